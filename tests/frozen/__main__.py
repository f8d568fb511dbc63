import frozen

frozen.write()

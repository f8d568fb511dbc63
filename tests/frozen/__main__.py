import sys

import frozen

frozen.STUB.write_text(frozen.stub())
if "stub" not in sys.argv:
    frozen.write()

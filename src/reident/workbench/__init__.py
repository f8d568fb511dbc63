"""The daily tool: one risk-utility map over any methods, an assessment of one's own data, a release of them."""

"""Speed of the page that `GraphView.to_html` makes, in a browser."""

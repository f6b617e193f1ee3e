"""The page: one HTML file for one run or many, which needs no network.

`page_runs` makes plain data of a run, `html_page` writes the file. The browser
draws from the data: `page.css`, and one JavaScript file a topic.
"""

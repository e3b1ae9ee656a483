"""Ten planted causes of out of memory: is the planted one ranked first?"""

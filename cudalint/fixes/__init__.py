"""From what a rule says would mend a finding to edits of the text, or to none."""

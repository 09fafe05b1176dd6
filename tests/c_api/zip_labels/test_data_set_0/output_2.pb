2left2rïghtB
same_names
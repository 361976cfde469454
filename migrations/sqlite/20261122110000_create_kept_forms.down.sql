DROP TABLE kept_forms;

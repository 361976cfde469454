DROP TABLE saved_forms;

"""TM301–TM311: a tape used wrongly, in code that has been migrated or was written for one."""

-- Running turns are few: `turns_running` finds those whose lease has expired. A renewal changes no index.
DROP INDEX turns_by_lease;

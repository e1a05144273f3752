// The folds library gets its sources below; this file keeps it a library while the first of them are written.

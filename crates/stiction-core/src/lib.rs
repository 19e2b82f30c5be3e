//! The vocabulary of stiction: units, plans, records, histograms, caveats and ids. Pure data.

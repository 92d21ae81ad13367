// Light or dark theme: the operator's choice, otherwise the system's. Runs before the page is drawn, so that the page
// does not flash.
'use strict';

const THEMES = ['system', 'light', 'dark'];

function storedTheme() {
  try {
    const stored = localStorage.getItem('coffer-theme');
    return THEMES.includes(stored) ? stored : 'system';
  } catch {
    return 'system'; // storage is disabled
  }
}

function applyTheme(theme) {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

window.cofferTheme = {
  present: storedTheme,
  next() {
    const theme = THEMES[(THEMES.indexOf(storedTheme()) + 1) % THEMES.length];
    try {
      localStorage.setItem('coffer-theme', theme);
    } catch {
      // Storage is disabled: the choice lasts until the page is closed.
    }
    applyTheme(theme);
    return theme;
  },
};

applyTheme(storedTheme());

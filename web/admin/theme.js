// Light or dark: as the system says, unless the operator chose. Runs before the page is drawn, so that
// it does not flash.
'use strict';

const THEMES = ['system', 'light', 'dark'];

function storedTheme() {
  try {
    const stored = localStorage.getItem('coffer-theme');
    return THEMES.includes(stored) ? stored : 'system';
  } catch {
    return 'system'; // storage is switched off
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
      // It holds for this page only.
    }
    applyTheme(theme);
    return theme;
  },
};

applyTheme(storedTheme());

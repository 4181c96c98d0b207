/** Applies the chosen theme before the first paint. */
const chosen = ((): string | null => {
  try {
    return localStorage.getItem('theme')
  } catch {
    return null
  }
})()
const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
export {}

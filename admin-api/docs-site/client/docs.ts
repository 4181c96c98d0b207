/** The script of documentation pages: copy buttons, language and color selection, search. */
import { prepareSearch } from './search-box.ts'
import { prepareTabs } from './tabs.ts'

const copiedMs = 2000

function addCopyButtons(): void {
  for (const figure of document.querySelectorAll('figure.code')) {
    const [caption, code] = [figure.querySelector('figcaption'), figure.querySelector('code')]
    if (!caption || !code) continue
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Copy'
    button.addEventListener('click', () => {
      void copy(copiedText(code.textContent)).then((isDone) => {
        button.textContent = isDone ? 'Copied' : 'Select the code and copy it'
        setTimeout(() => (button.textContent = 'Copy'), copiedMs)
      })
    })
    caption.append(button)
  }
}

/** Returns only the typed commands of a terminal session, without prompts. */
function copiedText(text: string): string {
  const lines = text.trimEnd().split('\n')
  if (!lines.some((line) => line.startsWith('$ '))) return text.trimEnd()
  const typed = lines.filter((line, index) => line.startsWith('$ ') || lines[index - 1]?.endsWith('\\'))
  return typed.map((line) => line.replace(/^\$ /, '')).join('\n')
}

const copy = (text: string): Promise<boolean> =>
  navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )

function prepareTheme(): void {
  const button = document.querySelector<HTMLButtonElement>('button.theme')
  const { dataset } = document.documentElement
  if (!button) return
  button.hidden = false
  button.ariaPressed = String(dataset['theme'] === 'dark')
  button.addEventListener('click', () => {
    const theme = dataset['theme'] === 'dark' ? 'light' : 'dark'
    dataset['theme'] = theme
    button.ariaPressed = String(theme === 'dark')
    try {
      localStorage.setItem('theme', theme)
    } catch {
      // without storage, the choice lasts for this page
    }
  })
}

/** Marks the current section in the side list. */
function followReader(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.contents li a')]
  const targets = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))))
  const mark = (): void => {
    const passed = targets.findLastIndex((target) => target && target.getBoundingClientRect().top < 140)
    const current = Math.max(passed, 0)
    for (const [index, link] of links.entries())
      if (index === current) link.setAttribute('aria-current', 'true')
      else link.removeAttribute('aria-current')
  }
  if (links.length === 0) return
  addEventListener('scroll', mark, { passive: true })
  mark()
}

addCopyButtons()
prepareTabs()
prepareTheme()
prepareSearch()
followReader()
document.querySelector('.side a[aria-current=page]')?.scrollIntoView({ block: 'nearest' })

/** Turns neighbouring code blocks into tabs; without a script, all blocks are visible. ARIA Authoring Practices, tabs. */

export function prepareTabs(): void {
  for (const [number, group] of document.querySelectorAll<HTMLElement>('.tabs').entries()) {
    const figures = [...group.querySelectorAll<HTMLElement>('figure[data-tab]')]
    if (figures.length > 1) makeTabs(group, figures.map(panelOf), number)
  }
  const chosen = remembered()
  if (chosen !== undefined) choose(chosen)
}

/** Wraps a figure in the panel, since a figure already has its own role. */
function panelOf(figure: HTMLElement): HTMLElement {
  const panel = document.createElement('div')
  panel.dataset['tab'] = figure.dataset['tab']
  delete figure.dataset['tab']
  figure.before(panel)
  panel.append(figure)
  return panel
}

function makeTabs(group: HTMLElement, panels: readonly HTMLElement[], number: number): void {
  const list = document.createElement('div')
  list.role = 'tablist'
  list.ariaLabel = 'Language'
  for (const [index, panel] of panels.entries()) {
    const name = panel.dataset['tab'] ?? ''
    const tab = document.createElement('button')
    tab.type = 'button'
    tab.role = 'tab'
    tab.textContent = name
    tab.id = `tab-${String(number)}-${String(index)}`
    panel.id = `panel-${String(number)}-${String(index)}`
    tab.setAttribute('aria-controls', panel.id)
    panel.role = 'tabpanel'
    panel.setAttribute('aria-labelledby', tab.id)
    tab.addEventListener('click', () => {
      remember(name)
      const before = tab.getBoundingClientRect().top
      choose(name)
      scrollBy(0, tab.getBoundingClientRect().top - before)
    })
    list.append(tab)
  }
  list.addEventListener('keydown', (event) => moveBetween(event, list))
  group.prepend(list)
  show(group, panels[0]?.dataset['tab'] ?? '')
}

/** Selects the language in every group of the page that has it. */
function choose(name: string): void {
  for (const group of document.querySelectorAll<HTMLElement>('.tabs'))
    if (group.querySelector(`[data-tab="${CSS.escape(name)}"]`)) show(group, name)
}

function show(group: HTMLElement, name: string): void {
  for (const tab of group.querySelectorAll<HTMLElement>('[role=tab]')) {
    const isChosen = tab.textContent === name
    tab.ariaSelected = String(isChosen)
    tab.tabIndex = isChosen ? 0 : -1
  }
  for (const panel of group.querySelectorAll<HTMLElement>('[role=tabpanel]')) panel.hidden = panel.dataset['tab'] !== name
}

function moveBetween(event: KeyboardEvent, list: HTMLElement): void {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role=tab]')]
  const at = tabs.findIndex((tab) => tab === document.activeElement)
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
  const tab = to === undefined ? undefined : tabs.at(to % tabs.length)
  if (!tab) return
  event.preventDefault()
  tab.click()
  tab.focus()
}

const key = 'docs-language'

function remembered(): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

function remember(name: string): void {
  try {
    localStorage.setItem(key, name)
  } catch {
    // without storage, the choice lasts for this page
  }
}

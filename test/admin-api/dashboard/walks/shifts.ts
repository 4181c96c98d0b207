/** Measures how much the content of a page moves while it loads. */
import type { Page } from '../../../support/web/browser.ts'

/**
 * Records layout shifts in every document that the page loads from now on. Shifts after input of the user do not count, and neither does a
 * changed width of the navigation, because a script replaces the input that changes it.
 */
export const watchShifts = (page: Page): Promise<unknown> =>
  page.addInitScript(`globalThis.shifts = []
new PerformanceObserver((list) => {
  const isOfNavigation = ({ sources }) => sources.some(({ node }) => node?.id === 'content')
  for (const entry of list.getEntries()) if (!entry.hadRecentInput && !isOfNavigation(entry)) shifts.push(entry)
}).observe({ type: 'layout-shift', buffered: true })`)

/** Delays every answer of the REST API. */
export const delayAnswers = (page: Page, ms: number): Promise<unknown> =>
  page.route('**/v1/**', async (route) => {
    await new Promise((passed) => setTimeout(passed, ms))
    await route.continue().catch(() => undefined) // the page has navigated
  })

interface Shift {
  /** Cumulative layout shift, as browsers define it: the largest sum of a window of at most five seconds. */
  readonly sum: number
  /** The elements that moved. */
  readonly moved: string
}

/** Returns the shifts since the last call. */
export const shiftOf = (page: Page): Promise<Shift> =>
  page.evaluate(`(() => {
    const all = globalThis.shifts.splice(0)
    let [sum, current, begin, last] = [0, 0, -Infinity, -Infinity]
    for (const { value, startTime } of all) {
      if (startTime - last > 1000 || startTime - begin > 5000) [current, begin] = [0, startTime]
      last = startTime
      current += value
      sum = Math.max(sum, current)
    }
    const moved = all.map(({ value, sources }) => value.toFixed(3) + ' ' + sources.map(({ node, previousRect: a, currentRect: b }) =>
      (node?.outerHTML ?? node?.textContent ?? '').slice(0, 70) + ' ' + [a.y, b.y, a.height, b.height].join('/')).join(' | ')).join('\\n')
    return { sum, moved }
  })()`)

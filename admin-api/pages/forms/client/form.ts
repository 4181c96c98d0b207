/** The script of forms. On its own page it starts by itself; a page of another site starts it for the form that it shows. */
import { enhance } from './enhance.ts'
import { first } from './dom.ts'
import { FramedPage } from './framed-page.ts'

export { evaluate } from '#core/forms/definition/evaluate.ts'
export { enhance }

const followMs = 3000

const page = first(document, '.pf[data-page-of]')
if (page) begin(page)

function begin(pf: HTMLElement): void {
  const isFramed = pf.classList.contains('embedded') && parent !== window
  const origins = JSON.parse(pf.dataset['origins'] ?? '[]') as readonly string[]
  const framed = isFramed ? new FramedPage(pf.dataset['pageOf'] ?? '', origins) : undefined
  enhance(document, {
    stepped: () => framed?.say('step'),
    failed: () => framed?.say('error'),
    sent: ({ thanks }) => location.assign(thanks),
    // the service returns the new version filled in; a field may have the name of the method
    renewed: (form) => HTMLFormElement.prototype.submit.call(form),
  })
  if (pf.querySelector('.thanks')) thank(pf, framed)
}

function thank(pf: HTMLElement, framed: FramedPage | undefined): void {
  framed?.say('submitted')
  const print = first<HTMLButtonElement>(pf, '[data-print]')
  if (print) {
    print.hidden = false
    print.addEventListener('click', () => window.print())
  }
  if (framed) return
  first(pf, 'h1')?.focus()
  const onward = first<HTMLAnchorElement>(pf, 'a[data-onward]')
  if (onward && performance.getEntriesByType('navigation').every((entry) => (entry as PerformanceNavigationTiming).type === 'navigate'))
    setTimeout(() => location.assign(onward.href), followMs)
}

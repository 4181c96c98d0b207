/** A button at the edge of a page of another site, which opens the form in a dialog. */
import type { Fragment } from '../scripts/plan-types.ts'
import { frameFor } from './embedded-frame.ts'
import { fetchFragment, NotThere, rootOf, show } from './inline.ts'
import { announce, type Place } from './place.ts'

/** Used until the stylesheet of the form is loaded. A script inserts it, which every policy allows. */
const style = `:host{all:initial}
.launch{position:fixed;z-index:2147483000;inset-block-end:24px;inset-inline-end:24px;min-height:52px;max-width:calc(100% - 48px);padding:12px 24px;
border:1px solid transparent;border-radius:min(var(--pf-radius,8px),26px);background:var(--pf-primary,#16191d);color:var(--pf-on-primary,#fff);
font:600 17px/1.4 var(--pf-font,system-ui,sans-serif);box-shadow:0 4px 20px rgb(0 0 0/.24);cursor:pointer}
.launch:hover{text-decoration:underline}
.launch:focus-visible{outline:2px solid var(--pf-ring,#0b0b0c);outline-offset:2px;box-shadow:0 0 0 2px var(--pf-ring-gap,#fff)}
.launch[aria-busy]{opacity:.8;cursor:progress}
@media (max-width:639px){.launch{inset-inline:16px;inset-block-end:16px;max-width:none}}
@media print{.launch{display:none}}`

export function popup(place: Place): void {
  const root = rootOf(place.element)
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(style)
  root.adoptedStyleSheets = [sheet]
  const theme = document.createElement('link')
  theme.rel = 'stylesheet'
  theme.href = `${place.origin}/f/${encodeURIComponent(place.id)}/theme.css`
  const launch = document.createElement('button')
  launch.type = 'button'
  launch.className = 'launch'
  launch.textContent = place.label
  launch.setAttribute('aria-haspopup', 'dialog')
  root.append(theme, launch)
  new Popup(place, root, launch)
}

class Popup {
  readonly #place: Place
  readonly #root: ShadowRoot
  readonly #launch: HTMLElement
  #dialog: HTMLDialogElement | undefined
  #isSent = false

  constructor(place: Place, root: ShadowRoot, launch: HTMLElement) {
    this.#place = place
    this.#root = root
    this.#launch = launch
    launch.addEventListener('click', () => void this.#open())
    place.element.addEventListener('svc-form:submit', () => (this.#isSent = true))
  }

  async #open(): Promise<void> {
    if (this.#launch.ariaBusy) return
    this.#launch.ariaBusy = 'true'
    try {
      this.#dialog ??= await this.#make()
      this.#dialog.showModal()
    } catch (error) {
      const code = error instanceof NotThere ? 'form_not_found' : 'not_loaded'
      announce(this.#place.element, 'error', { form: this.#place.id, code })
    } finally {
      this.#launch.ariaBusy = null
    }
  }

  async #make(): Promise<HTMLDialogElement> {
    const { mode, query, label } = this.#place
    const dialog = document.createElement('dialog')
    dialog.className = `pf-dialog ${mode}`
    dialog.setAttribute('aria-label', label)
    this.#root.append(dialog)
    try {
      const fragment = await fetchFragment(this.#place, query)
      if (fragment.isFramed) throw new Error('This form can be shown only in a frame.')
      await show(this.#place, dialog, fragment)
      this.#addClose(dialog, fragment)
    } catch (error) {
      if (error instanceof NotThere) {
        dialog.remove()
        throw error
      }
      dialog.style.cssText = 'width:min(440px,100%);max-height:100%;padding:0;border:0'
      dialog.replaceChildren(frameFor(this.#place, label))
      this.#addClose(dialog, undefined)
    }
    // a click outside the dialog has the dialog itself as its target
    dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close())
    dialog.addEventListener('close', () => this.#closed(dialog))
    return dialog
  }

  #addClose(dialog: HTMLDialogElement, fragment: Fragment | undefined): void {
    const close = document.createElement('button')
    close.type = 'button'
    close.className = 'pf-close'
    close.setAttribute('aria-label', dialog.querySelector<HTMLElement>('.pf')?.dataset['close'] ?? 'Close')
    close.textContent = '×'
    close.addEventListener('click', () => dialog.close())
    if (fragment === undefined) close.style.cssText = 'position:absolute;inset-inline-end:8px;inset-block-start:8px;width:44px;height:44px'
    dialog.prepend(close)
  }

  /** A sent form starts again. */
  #closed(dialog: HTMLDialogElement): void {
    if (!this.#isSent) return
    this.#isSent = false
    dialog.remove()
    this.#dialog = undefined
  }
}

/** A form in the document of another site, in a shadow root of its own: its width is that of the page, its look its own. */
import { contrast } from '#core/forms/definition/contrast.ts'
import type { enhance, Surroundings } from '../client/enhance.ts'
import type { Fragment } from '../scripts/plan-types.ts'
import { frameFor } from './embedded-frame.ts'
import { announce, type Place } from './place.ts'

interface FormScript {
  readonly enhance: typeof enhance
}

/** By WCAG 2. */
const readable = 4.5

export const rootOf = (element: HTMLElement): ShadowRoot => element.shadowRoot ?? element.attachShadow({ mode: 'open' })

export async function inline(place: Place): Promise<void> {
  const { element, origin, id, query, label } = place
  try {
    const fragment = await fetchFragment(place, query)
    if (fragment.isFramed) rootOf(element).replaceChildren(frameFor(place, fragment.title))
    else await show(place, rootOf(element), fragment)
  } catch (error) {
    if (error instanceof NotThere) return announce(element, 'error', { form: id, code: 'form_not_found' })
    try {
      rootOf(element).replaceChildren(frameFor(place, label))
    } catch {
      element.replaceChildren(frameFor({ origin, id, query, element }, label))
    }
  }
}

/** The service says that there is no such form, or none for this page. */
export class NotThere extends Error {
  override readonly name = 'NotThere'
}

export async function fetchFragment({ origin, id }: Place, query: URLSearchParams): Promise<Fragment> {
  const response = await fetch(`${origin}/f/${encodeURIComponent(id)}/fragment?${query.toString()}`, { credentials: 'omit' })
  if (response.status === 404 || response.status === 403) throw new NotThere('There is no such form for this page.')
  if (!response.ok) throw new Error(`The form could not be read: ${String(response.status)}`)
  return (await response.json()) as Fragment
}

/**
 * Puts the form into the place once its styles are there, and makes it live. Throws where the policy of the page forbids one of them.
 * `message`: why it takes the place of one that was there.
 */
export async function show(place: Place, into: ShadowRoot | HTMLElement, fragment: Fragment, message?: string): Promise<void> {
  const { element, id, origin } = place
  const root = into instanceof ShadowRoot ? into : rootOf(element)
  const script = (await import(origin + fragment.script)) as FormScript
  const parts = partsOf(fragment)
  if (!place.hasTitle && place.mode === 'inline') parts.querySelector('.pf')?.classList.add('untitled')
  const form = parts.querySelector<HTMLElement>('.pf')
  for (const { attributes } of parts.querySelectorAll('form')) {
    const action = attributes.getNamedItem('action')
    if (action) action.value = origin + action.value
  }
  if (form) form.hidden = true
  await linked(
    into,
    fragment.styles.map((path) => origin + path),
  )
  into.append(parts)
  if (form) {
    if (place.mode === 'inline') standOut(form, element)
    form.hidden = false
    form.addEventListener('focusin', ({ relatedTarget: before }) => {
      if (!(before instanceof Node && form.contains(before))) announce(element, 'focus', { form: id })
    })
  }
  const surroundings: Surroundings = {
    stepped: (step) => announce(element, 'step', { form: id, step }),
    failed: (code) => announce(element, 'error', { form: id, code }),
    sent: ({ id: submission, thanks }) => {
      announce(element, 'submit', { form: id, submission })
      void thank(place, into, new URL(thanks, origin))
    },
    renewed: (_form, why) => void renew(place, into, why),
  }
  script.enhance(root, surroundings, message)
  if (message === undefined) announce(element, 'ready', { form: id })
}

/** The form as it is now, in its place; the script fills in what was kept. */
async function renew(place: Place, into: ShadowRoot | HTMLElement, message: string): Promise<void> {
  const fragment = await fetchFragment(place, place.query)
  into.querySelector('.pf')?.remove()
  await show(place, into, fragment, message)
}

/** What comes after the form, in its place. */
async function thank(place: Place, into: ShadowRoot | HTMLElement, { search }: URL): Promise<void> {
  const query = new URLSearchParams(search)
  const thanks = partsOf(await fetchFragment(place, query))
  const old = into.querySelector('.pf')
  const made = thanks.querySelector<HTMLElement>('.pf')
  if (!old || !made) return
  if (old.classList.contains('untitled')) made.classList.add('untitled')
  if (old.classList.contains('apart')) made.classList.add('apart')
  old.replaceWith(made)
  made.querySelector<HTMLElement>('.thanks h2')?.focus({ preventScroll: true })
  if (made.getBoundingClientRect().top < 0) made.scrollIntoView({ block: 'start' })
}

function partsOf({ html }: Fragment): DocumentFragment {
  const template = document.createElement('template')
  template.innerHTML = html
  return template.content
}

/** Waits for the styles; they are loaded once for all forms. */
function linked(into: ShadowRoot | HTMLElement, styles: readonly string[]): Promise<unknown> {
  return Promise.all(
    styles.map(
      (href) =>
        new Promise<void>((resolve, reject) => {
          const link = document.createElement('link')
          link.rel = 'stylesheet'
          link.href = href
          link.addEventListener('load', () => resolve())
          link.addEventListener('error', () => reject(new Error(`${href} was not loaded`)))
          into.append(link)
        }),
    ),
  )
}

/** A form whose text would be hard to read on what lies behind it stands on a surface of its own. */
function standOut(form: HTMLElement, element: HTMLElement): void {
  const [text, muted] = [getComputedStyle(form).color, getComputedStyle(form).getPropertyValue('--pf-muted')]
  const behind = backdropOf(element)
  if (![text, muted].every((color) => isReadableOn(color, behind))) form.classList.add('apart')
}

function backdropOf(element: Element): string | undefined {
  for (let at: Element | null = element; at; at = at.parentElement ?? hostOf(at)) {
    const { backgroundColor, backgroundImage } = getComputedStyle(at)
    if (backgroundImage !== 'none') return undefined
    if (!/rgba\(.*, 0\)|transparent/.test(backgroundColor)) return hexOf(backgroundColor)
  }
  return getComputedStyle(document.documentElement).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches
    ? '#121212'
    : '#ffffff'
}

function hostOf(element: Element): Element | null {
  const root = element.getRootNode()
  return root instanceof ShadowRoot ? root.host : null
}

const isReadableOn = (color: string, behind: string | undefined): boolean => {
  const own = hexOf(color)
  return own !== undefined && behind !== undefined && contrast(own, behind) >= readable
}

/** Undefined for what is no plain colour. */
function hexOf(color: string): string | undefined {
  if (/^#[\da-f]{6}$/i.test(color.trim())) return color.trim()
  const parts = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color)?.slice(1)
  return parts && `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`
}

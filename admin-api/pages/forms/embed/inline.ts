/** A form in the document of another site, in its own shadow root. The page determines its width, and the form its style. */
import { contrast } from '#core/forms/definition/contrast.ts'
import type { enhance, Surroundings } from '../client/enhance.ts'
import type { Fragment } from '../scripts/plan-types.ts'
import { frameFor } from './embedded-frame.ts'
import { announce, type Place } from './place.ts'

interface FormScript {
  readonly enhance: typeof enhance
}

/** Smallest contrast of text in WCAG 2. */
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

/** Thrown if the form does not exist or is not available to this page. */
export class NotThere extends Error {
  override readonly name = 'NotThere'
}

export async function fetchFragment({ origin, id }: Place, query: URLSearchParams): Promise<Fragment> {
  const response = await fetch(`${origin}/f/${encodeURIComponent(id)}/fragment?${query.toString()}`, { credentials: 'omit' })
  if (response.status === 404 || response.status === 403) throw new NotThere('No form with this id is available to this page.')
  if (!response.ok) throw new Error(`The form could not be read: ${String(response.status)}`)
  return (await response.json()) as Fragment
}

/**
 * Inserts the form when its styles are loaded, and makes it interactive. Throws if the policy of the page forbids a part of it. `message`
 * is the reason why it replaces another form.
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

/** Replaces the form by its current version; the script restores the saved answers. */
async function renew(place: Place, into: ShadowRoot | HTMLElement, message: string): Promise<void> {
  const fragment = await fetchFragment(place, place.query)
  into.querySelector('.pf')?.remove()
  await show(place, into, fragment, message)
}

/** Replaces the form by the thank-you page. */
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

/** Waits for the styles, which are loaded once for all forms. */
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

/** Gives the form a background if its text would be hard to read on the page. */
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

/** Returns undefined for a color that is not opaque. */
function hexOf(color: string): string | undefined {
  if (/^#[\da-f]{6}$/i.test(color.trim())) return color.trim()
  const parts = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color)?.slice(1)
  return parts && `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`
}

/** Creates the HTML that embeds a form in a page, and lists the Content-Security-Policy directives that the page needs. */
import type { Principal } from '../access/principal/principal.ts'
import type { Definition } from './definition/definition.ts'
import type { Form } from './form.ts'
import type { FormDrafts } from './drafts.ts'
import type { Forms } from './forms.ts'
import type { Publishing } from './publishing.ts'

export const embedModes = ['link', 'iframe', 'script', 'popup'] as const
export type EmbedMode = (typeof embedModes)[number]

export interface EmbedSnippet {
  readonly mode: EmbedMode
  /** URL of the hosted page. */
  readonly url: string
  readonly html: string
  /** Directives for the Content-Security-Policy of the embedding page, each with the source to add. */
  readonly contentSecurityPolicy: readonly string[]
  /** Problems that prevent the form from working, each with the remedy. */
  readonly notes: readonly string[]
}

export interface EmbedSnippetsOptions {
  readonly forms: Pick<Forms, 'get'>
  readonly drafts: Pick<FormDrafts, 'get'>
  readonly publishing: Pick<Publishing, 'version'>
  /** Public address of forms. */
  readonly formsUrl: string
}

export class EmbedSnippets {
  readonly #options: EmbedSnippetsOptions

  constructor(options: EmbedSnippetsOptions) {
    this.#options = options
  }

  /** Uses the published version, or the draft of a form that was never published. */
  async make(principal: Principal, id: string, { mode, origin }: { mode: EmbedMode; origin?: string | undefined }): Promise<EmbedSnippet> {
    const { forms, drafts, publishing, formsUrl } = this.#options
    const form = await forms.get(principal, id)
    const version = form.version > 0 ? await publishing.version(principal, id, form.version) : undefined
    const definition = version?.definition ?? ((await drafts.get(principal, id)).draft.definition as Partial<Definition>)
    const url = `${formsUrl}/f/${form.publicId}`
    const hasCaptcha = (definition.settings?.captcha ?? null) !== null
    return {
      ...{ mode, url, html: htmlOf(mode, { url, formsUrl, publicId: form.publicId, name: definition.name ?? form.name }) },
      contentSecurityPolicy: policyOf(mode, formsUrl, hasCaptcha),
      notes: notesOf(form, definition.settings?.allowed_origins ?? [], { mode, origin, hasCaptcha }),
    }
  }
}

interface Facts {
  readonly url: string
  readonly formsUrl: string
  readonly publicId: string
  readonly name: string
}

function htmlOf(mode: EmbedMode, { url, formsUrl, publicId, name }: Facts): string {
  const link = `<a href="${url}">${escaped(name)}</a>`
  const script = `<script async src="${formsUrl}/embed.js"></script>`
  if (mode === 'link') return link
  if (mode === 'iframe') {
    // uses attributes, because many policies forbid inline styles
    const size = 'width="100%" height="480" frameborder="0"'
    return `<iframe src="${url}?embed=1" title="${escaped(name)}" loading="lazy" ${size}></iframe>\n${script}`
  }
  // browsers without scripts show the link
  const more = mode === 'popup' ? ` data-mode="popup" data-label="${escaped(name)}"` : ''
  return `<div data-svc-form="${publicId}"${more}>${link}</div>\n${script}`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '')

/** Returns the needed directives. A form with a captcha is always shown in a frame; a frame is also the fallback of the other modes. */
function policyOf(mode: EmbedMode, formsUrl: string, hasCaptcha: boolean): readonly string[] {
  if (mode === 'link') return []
  const directives = mode === 'iframe' ? ['script-src', 'frame-src'] : ['script-src', 'style-src', 'connect-src', 'frame-src']
  const needed = hasCaptcha && mode === 'script' ? ['script-src', 'connect-src', 'frame-src'] : directives
  return needed.map((directive) => `${directive} ${formsUrl}`)
}

function notesOf(
  { status }: Form,
  allowed: readonly string[],
  { mode, origin, hasCaptcha }: { readonly mode: EmbedMode; readonly origin: string | undefined; readonly hasCaptcha: boolean },
): readonly string[] {
  const isElsewhere = mode !== 'link' && allowed.length > 0
  return [
    ...(status === 'published'
      ? []
      : [`The form is ${status === 'draft' ? 'a draft' : status}: visitors cannot see it until it is published.`]),
    ...(isElsewhere && origin !== undefined && !allowed.includes(origin)
      ? [`${origin} is not in settings.allowed_origins: add it and publish the form, so that this page can show and send it.`]
      : []),
    ...(isElsewhere && origin === undefined ? [`The form works on these pages only: ${allowed.join(', ')}.`] : []),
    ...(hasCaptcha && (mode === 'script' || mode === 'popup')
      ? [
          'The form has a captcha, so the page shows it in a frame. The page then need not allow scripts and styles of the captcha provider.',
        ]
      : []),
  ]
}

/** Contact form for any web page, as HTML to paste. It sends with a publishable key and shows visitors the result. */
import type { Mailbox } from '../addresses.ts'
import type { Captcha, CaptchaProvider } from '../visitors/captcha.ts'
import { honeypot, honeypotHtml } from '../visitors/honeypot.ts'
import { markName, snippetScript, type SnippetSettings } from './snippet-script.ts'

export const snippetStyles = ['minimal', 'tailwind'] as const
export type SnippetStyle = (typeof snippetStyles)[number]

export const fieldTypes = ['text', 'email', 'tel', 'textarea'] as const

export interface SnippetField {
  /** Letters, digits and underscores. */
  readonly name: string
  readonly label: string
  readonly type: (typeof fieldTypes)[number]
  readonly required: boolean
}

export interface SnippetOptions {
  readonly token: string
  /** URL for sending messages. */
  readonly sendUrl: string
  readonly to: Mailbox
  readonly from: string
  readonly fields: readonly SnippetField[]
  readonly style: SnippetStyle
  readonly captcha: Pick<Captcha, 'provider' | 'siteKey'> | null
}

/** Default fields of a form. */
export const usualFields: readonly SnippetField[] = [
  { name: 'name', label: 'Name', type: 'text', required: true },
  { name: 'email', label: 'Email', type: 'email', required: true },
  { name: 'message', label: 'Message', type: 'textarea', required: true },
]

/** Markup of each provider's widget, and the field for its token. */
const widgets: Readonly<Record<CaptchaProvider, { readonly className: string; readonly script: string; readonly field: string }>> = {
  turnstile: {
    className: 'cf-turnstile',
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    field: 'cf-turnstile-response',
  },
  hcaptcha: { className: 'h-captcha', script: 'https://js.hcaptcha.com/1/api.js', field: 'h-captcha-response' },
}

interface Classes {
  readonly form: string
  readonly label: string
  readonly input: string
  readonly button: string
  readonly status: string
}

const classes: Readonly<Record<SnippetStyle, Classes>> = {
  minimal: { form: 'postern-form', label: '', input: '', button: '', status: '' },
  tailwind: {
    form: 'mx-auto flex max-w-lg flex-col gap-4',
    label: 'flex flex-col gap-1 text-sm font-medium text-gray-900',
    input: 'rounded-md border border-gray-400 px-3 py-2 text-base font-normal text-gray-900 focus:outline-2 focus:outline-blue-700',
    button:
      'self-start rounded-md bg-blue-700 px-4 py-2 font-medium text-white hover:bg-blue-800 focus:outline-2 focus:outline-offset-2 focus:outline-blue-700 disabled:opacity-60',
    status: 'min-h-6 text-sm text-gray-900',
  },
}

const minimalStyle = `<style>
  .postern-form { display: grid; gap: 1rem; max-width: 32rem; font: inherit; }
  .postern-form label { display: grid; gap: 0.25rem; }
  .postern-form input, .postern-form textarea { font: inherit; padding: 0.5rem 0.75rem; border: 1px solid #767676; border-radius: 0.25rem; }
  .postern-form button { justify-self: start; font: inherit; padding: 0.5rem 1rem; cursor: pointer; }
  .postern-form [role='status'] { min-height: 1.5em; margin: 0; }
</style>
`

/** Returns HTML; all input is escaped. */
export function renderSnippet(options: SnippetOptions): string {
  const { fields, style, captcha } = options
  const look = classes[style]
  const rows = fields.map((field) => fieldRow(field, look))
  const widget = captcha && { ...widgets[captcha.provider], siteKey: captcha.siteKey ?? '' }
  const mark = options.token.slice(-12)
  const settings: SnippetSettings = {
    mark,
    url: options.sendUrl,
    key: options.token,
    to: options.to.address,
    from: options.from,
    fields: fields.map(({ name, label }) => ({ name, label })),
    replyTo: fields.find(({ type }) => type === 'email')?.name ?? null,
    honeypot,
    captchaField: widget?.field ?? null,
  }
  return `${style === 'minimal' ? minimalStyle : ''}<form ${markName}="${mark}"${classOf(look.form)} method="post" action="#">
${rows.join('\n')}
  ${honeypotHtml}
${widget ? `  <div class="${widget.className}" data-sitekey="${escape(widget.siteKey)}"></div>\n` : ''}  <button type="submit" disabled${classOf(look.button)}>Send</button>
  <p role="status"${classOf(look.status)}></p>
  <noscript>This form needs JavaScript.</noscript>
</form>
<script>
${snippetScript(settings)}
</script>
${widget ? `<script src="${widget.script}" async defer></script>\n` : ''}`
}

function fieldRow({ name, label, type, required }: SnippetField, look: Classes): string {
  const common = `name="${escape(name)}"${required ? ' required' : ''}${classOf(look.input)}`
  const input =
    type === 'textarea'
      ? `<textarea ${common} rows="6" maxlength="20000"></textarea>`
      : `<input type="${type}" ${common} maxlength="200"${completion(name, type)} />`
  return `  <label${classOf(look.label)}>${escape(label)}${required ? '' : ' (optional)'} ${input}</label>`
}

/** Returns the autocomplete attribute (WCAG 2.2, 1.3.5). */
function completion(name: string, type: SnippetField['type']): string {
  if (type === 'email' || type === 'tel') return ` autocomplete="${type}"`
  return name === 'name' ? ' autocomplete="name"' : ''
}

const classOf = (names: string): string => (names === '' ? '' : ` class="${names}"`)

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)

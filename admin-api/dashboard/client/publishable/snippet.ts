/** Snippets to paste into a web page: a contact form or the API call. They never contain the key. */
import { boot } from '../app/boot.ts'
import type { PublishableKey } from '../wire/api.d.ts'

export interface FormTexts {
  readonly address: string
  readonly message: string
  readonly send: string
  readonly sent: string
  readonly notSent: string
}

/** Returns a JavaScript string literal. Escapes `<`, so that the text cannot end the script element. */
const literal = (text: string): string => JSON.stringify(text).replaceAll('<', String.raw`\u003c`)

/** Returns the recipient. For an entry that allows a whole domain, it is an example address. */
export const recipientOf = (entry: string): string => (entry.startsWith('@') ? `office${entry}` : entry)

const widgets = {
  turnstile: ['https://challenges.cloudflare.com/turnstile/v0/api.js', 'cf-turnstile', 'cf-turnstile-response'],
  hcaptcha: ['https://js.hcaptcha.com/1/api.js', 'h-captcha', 'h-captcha-response'],
} as const

type Key = Pick<PublishableKey, 'captcha_provider' | 'captcha_site_key'>

const callOf = ({ captcha_provider: captcha }: Key, to: string, values: Readonly<Record<'visitor' | 'text' | 'token', string>>): string =>
  `await fetch(${literal(`${boot.baseUrl}/v1/messages`)}, {
    method: 'POST',
    headers: {
      Authorization: 'Bearer YOUR_KEY',
      'Content-Type': 'application/json',${captcha === null ? '' : `\n      'X-Service-Captcha-Token': ${values.token},`}
    },
    body: JSON.stringify({
      to: ${literal(recipientOf(to))},
      reply_to: ${values.visitor},
      subject: 'Contact',
      text: ${values.text},
    }),
  })`

export const callSnippet = (key: Key, to: string): string => `<script type="module">
  const answer = ${callOf(key, to, { visitor: 'visitorAddress', text: 'visitorText', token: 'token' })}
</script>`

/** Escapes text for HTML. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

export function formSnippet(key: Key, to: string, texts: FormTexts): string {
  const widget = key.captcha_provider === null ? undefined : widgets[key.captcha_provider]
  const values = { visitor: "data.get('address')", text: "data.get('message')", token: `data.get('${widget?.[2] ?? ''}')` }
  return `<form id="contact">
  <label>${escaped(texts.address)} <input type="email" name="address" autocomplete="email" required></label>
  <label>${escaped(texts.message)} <textarea name="message" rows="6" required></textarea></label>${
    widget ? `\n  <div class="${widget[1]}" data-sitekey="${escaped(key.captcha_site_key ?? '')}"></div>` : ''
  }
  <button>${escaped(texts.send)}</button>
  <p role="status"></p>
</form>${widget ? `\n<script src="${widget[0]}" async defer></script>` : ''}
<script type="module">
  const form = document.querySelector('#contact')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const data = new FormData(form)
    const answer = ${callOf(key, to, values).replaceAll('\n', '\n  ')}
    form.querySelector('[role=status]').textContent = answer.ok ? ${literal(texts.sent)} : ${literal(texts.notSent)}
    if (answer.ok) form.reset()
  })
</script>`
}

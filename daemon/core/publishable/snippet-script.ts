/** Script of a pasted contact form: posts the input and shows the result in the form's status line. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'

export interface SnippetSettings {
  /** Value of the attribute that identifies the form; letters, digits, - and _. */
  readonly mark: string
  readonly url: string
  readonly key: string
  readonly to: string
  readonly from: string
  readonly fields: readonly { readonly name: string; readonly label: string }[]
  /** Name of the field with the visitor's address. */
  readonly replyTo: string | null
  readonly honeypot: string
  /** Name of the field with the token of the captcha widget. */
  readonly captchaField: string | null
}

/** Texts for visitors by error code; `{wait}` is the time until the next attempt. Other codes use `failed`. */
function visitorTexts(): Readonly<Record<string, string>> {
  const { sending, sent, broken, tooMany, failed, ...texts } = catalogIn('snippet', 'en')
  return {
    ...{ sending, sent, origin_not_allowed: texts.originNotAllowed },
    ...{ rate_limit_exceeded: tooMany, quota_exhausted: tooMany, project_budget_exhausted: tooMany },
    ...{ captcha_required: texts.captchaRequired, captcha_failed: texts.captchaFailed },
    ...{ reply_to: texts.replyTo, validation_failed: texts.validationFailed, request_too_large: texts.tooLarge, failed },
    // the visitor cannot correct these
    ...{ invalid_key: broken, key_kind_mismatch: broken, recipient_not_allowed: broken, from_locked: broken },
    ...{ feature_unavailable: broken, captcha_not_configured: broken, suppressed: broken },
  }
}

/** Attribute that identifies the form; the script removes it after finding the form. */
export const markName = 'data-postern'

/** Returns JavaScript for a `<script>` element. The page can run it at any time and repeatedly. */
export const snippetScript = (settings: SnippetSettings): string => `  (() => {
    const settings = ${literal(settings)}
    // what visitors see: change it as you like
    const texts = ${literal(visitorTexts(), 2).replaceAll('\n', '\n    ')}
    const start = (form) => {
      const button = form.querySelector('button')
      const status = form.querySelector('[role=status]')
      const say = (text) => { status.textContent = text }
      // one for each message: sent again after a broken connection, it does not arrive twice
      let once
      form.addEventListener('input', () => { once = undefined })
      const explain = ({ code, message, details }) => {
        if (details?.fields?.[0]?.path === 'reply_to') return texts.reply_to
        const minutes = Math.ceil((details?.retry_after_seconds ?? 60) / 60)
        const wait = minutes > 90 ? Math.ceil(minutes / 60) + ' h' : minutes + ' min'
        return (texts[code] ?? texts.failed).replace('{wait}', wait).replace('{message}', () => message)
      }
      form.addEventListener('submit', async (event) => {
        event.preventDefault()
        const data = new FormData(form)
        const value = (name) => String(data.get(name) ?? '').trim()
        if (value(settings.honeypot) !== '') return say(texts.sent)
        once ??= crypto.randomUUID()
        const headers = { authorization: 'Bearer ' + settings.key, 'content-type': 'application/json', 'idempotency-key': once }
        if (settings.captchaField) {
          const token = value(settings.captchaField)
          if (token === '') return say(texts.captcha_required)
          headers['x-service-captcha-token'] = token
        }
        const message = {
          to: settings.to,
          from: settings.from,
          subject: 'Message from ' + location.hostname,
          text: settings.fields.map(({ name, label }) => label + ': ' + value(name)).join('\\n') + '\\n',
        }
        if (settings.replyTo && value(settings.replyTo) !== '') message.reply_to = value(settings.replyTo)
        button.disabled = true
        say(texts.sending)
        try {
          const answer = await fetch(settings.url, { method: 'POST', headers, body: JSON.stringify(message) })
          const told = await answer.json()
          if (!answer.ok) return say(explain(told.error))
          if (told.status === 'suppressed') return say(texts.suppressed)
          form.reset()
          once = undefined
          say(texts.sent)
        } catch {
          say(texts.failed)
        } finally {
          button.disabled = false
          for (const widget of [window.turnstile, window.hcaptcha]) if (settings.captchaField) widget?.reset?.()
        }
      })
      button.disabled = false
    }
    for (const form of document.querySelectorAll('[${markName}="' + settings.mark + '"]')) {
      form.removeAttribute('${markName}')
      start(form)
    }
  })()`

/** Returns JSON that cannot end a script element or start a comment in it. */
const literal = (value: unknown, indent = 0): string => JSON.stringify(value, null, indent).replaceAll('<', String.raw`\u003c`)

/** A form as a page that is complete without a script: every step, what is wrong, what was filled in, and what comes after. */
import { captchaKey, fillTimeKey } from '#core/forms/definition/definition.ts'
import type { PublicForm } from '#core/forms/submissions/public-forms.ts'
import type { Thanks } from '#core/forms/submissions/thanks.ts'
import { inReadingOrder } from '#core/forms/definition/layout.ts'
import type { Answer } from '../../operation/answer.ts'
import { html, type Html } from '../layout/html.ts'
import { idOf } from './controls.ts'
import { formFrame, type FormFrame } from './form-frame.ts'
import { still, steps } from './form-rows.ts'
import { isQuestion, type FormView } from './form-view.ts'
import { partsOf, type Parts } from './form-parts.ts'
import { blocksOf, richText } from './rich-text.ts'
import { postmark } from './postmark.ts'
import { themeSheet } from './theme-sheet.ts'
import type { FormWords } from './words/words.ts'

export interface PageFacts {
  readonly isSecure: boolean
  /** `?lang=fr`, where the visitor asked for a language; else nothing. */
  readonly search: string
  /** It is a draft that is tried out: where its theme is, where it is sent, and what goes with the answers. */
  readonly draft?: { readonly theme: string; readonly action: string; readonly carried: Readonly<Record<string, string>> }
}

/** Why the form comes back besides what is wrong with answers. */
export interface Return {
  readonly status: number
  readonly notice?: keyof FormWords['retry']
  readonly retryAfterSeconds?: number | undefined
}

export function formPage(view: FormView, facts: PageFacts, again?: Return): Answer {
  const { form, words } = view
  if (form.closed) return closedPage(view, facts)
  const parts = partsOf(view)
  const summary = again && problemSummary(view, again)
  const retry = again?.retryAfterSeconds
  return formFrame({
    ...frameOf(view, facts),
    title: `${again ? `${words.errorPrefix}: ` : ''}${form.name}`,
    captcha: form.captcha,
    letterhead: html`${sender(form)}
      <h1>${form.name}</h1>
      ${intro(parts)}${parts.steps.length > 1 && stepLinks(view, parts)}`,
    sheet: html`${summary}${formOf(view, parts, facts)}`,
    ...(again && { status: again.status }),
    ...(retry !== undefined && { headers: { 'retry-after': String(Math.ceil(retry)) } }),
  })
}

function formOf(view: FormView, parts: Parts, { search, draft }: PageFacts): Html {
  const { form, words, isMostlyNeeded } = view
  const questions = form.schema.fields.filter((field) => isQuestion(field)).length
  const [action, encoding] = draft
    ? [draft.action, 'application/x-www-form-urlencoded']
    : [`/f/${form.publicId}${search}`, 'multipart/form-data']
  return html`<form method="post" action="${action}" enctype="${encoding}" accept-charset="utf-8">
    ${Object.entries(draft?.carried ?? {}).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${questions > 1 && html`<p class="rule">${isMostlyNeeded ? words.allNeeded : words.onlyNeeded}</p>`}
    <input type="hidden" name="${fillTimeKey}" value="${form.fillTimeToken}" />
    <div class="trap" aria-hidden="true">
      <label for="${form.honeypotKey}">${words.trap}</label>
      <input id="${form.honeypotKey}" name="${form.honeypotKey}" type="text" tabindex="-1" autocomplete="off" />
    </div>
    ${steps(view, parts.steps)}${form.captcha && captchaOf(form.captcha, words)}
    <div class="actions"><button type="submit">${form.texts.submit_label}</button></div>
    ${parts.finePrint.length > 0 && html`<div class="fine">${parts.finePrint.map(({ text = '' }) => richText(text))}</div>`}
  </form>`
}

const captchaOf = ({ provider, site_key: siteKey }: NonNullable<PublicForm['captcha']>, words: FormWords): Html => html`
  <div class="captcha">
    <div
      class="${provider === 'turnstile' ? 'cf-turnstile' : 'h-captcha'}"
      data-sitekey="${siteKey}"
      data-response-field-name="${captchaKey}"
    ></div>
    <noscript><p class="notice">${words.noScript}</p></noscript>
  </div>
`

const frameOf = (
  { form, words }: FormView,
  { isSecure, draft }: PageFacts,
): Pick<FormFrame, 'locale' | 'words' | 'theme' | 'mode' | 'isSecure' | 'framedBy'> => ({
  ...{ locale: form.locale, words, mode: form.theme.mode, isSecure, framedBy: form.allowedOrigins },
  theme: draft?.theme ?? `/f/${form.publicId}/${themeSheet(form.theme).file}`,
})

const sender = ({ theme: { logo }, organizationName }: PublicForm): Html =>
  logo
    ? html`<p class="sender"><img src="${logo.src}" alt="${logo.alt}" referrerpolicy="no-referrer" /></p>`
    : html`<p class="sender">${organizationName}</p>`

/** The texts and pictures before the first question; a list of terms and values is set as facts. */
function intro({ intro: fields }: Parts): Html {
  return html`${fields.map((field) => {
    if (field.type !== 'paragraph') return still(field)
    return blocksOf(field.text ?? '').map(({ kind, lines }) => {
      const facts = kind === 'list' ? lines.map((line) => /^([^:]{1,40}): +(\S.*)$/.exec(line)) : []
      if (facts.length > 0 && facts.every(Boolean))
        return html`<dl class="facts">
          ${facts.map(
            (fact) =>
              html`<div>
                <dt>${fact?.[1]}</dt>
                <dd>${richText(fact?.[2] ?? '')}</dd>
              </div>`,
          )}
        </dl>`
      const mark = kind === 'list' ? '- ' : kind === 'numbers' ? '1. ' : ''
      return html`<div class="intro">${richText(lines.map((line) => mark + line).join('\n'))}</div>`
    })
  })}`
}

const stepLinks = ({ words }: FormView, parts: Parts): Html =>
  html`<nav class="stepper" aria-label="${words.steps}">
    <ol>
      ${parts.steps.map(
        ({ number, title }) =>
          html`<li>
            <a href="#step-${number}"><span class="disc" aria-hidden="true">${number}</span><span>${title}</span></a>
          </li>`,
      )}
    </ol>
  </nav>`

/** All that is wrong, each with a link to where it is. */
function problemSummary({ form, words, problems }: FormView, { notice }: Return): Html {
  const wrong = inReadingOrder(form.schema).filter(({ key }) => Object.hasOwn(problems, key))
  return html`<div class="summary" role="alert" tabindex="-1">
    <p class="title">${wrong.length === 0 && notice !== undefined ? words.retry[notice] : words.errorTitle(wrong.length)}</p>
    ${
      wrong.length > 0 &&
      html`<p>${words.errorKept}</p>
        <ul>
          ${wrong.map(({ key }) => html`<li><a href="#${idOf(key)}">${problems[key]}</a></li>`)}
        </ul>`
    }
  </div>`
}

function closedPage(view: FormView, facts: PageFacts): Answer {
  const { form, words } = view
  return formFrame({
    ...frameOf(view, facts),
    title: `${words.closedTitle} – ${form.name}`,
    letterhead: html`${sender(form)}
      <p class="asked">${form.name}</p>
      ${intro(partsOf(view))}`,
    sheet: html`<h1>${words.closedTitle}</h1>
      <p class="lead">${form.texts.closed_message}</p>`,
  })
}

export function thanksPage(view: FormView, facts: PageFacts, thanks: Thanks): Answer {
  const { form, words } = view
  const { title, body, redirectUrl, reference, receivedAt, maskedEmail } = thanks
  const received = new Intl.DateTimeFormat(form.locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(receivedAt)
  const day = new Intl.DateTimeFormat(form.locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }).format(receivedAt)
  const lines = [[words.thanks.reference, reference] as const, [words.thanks.received, `${received} UTC`] as const]
  if (maskedEmail !== undefined) lines.push([words.thanks.replyTo, maskedEmail])
  return formFrame({
    ...frameOf(view, facts),
    title: `${title} – ${form.name}`,
    isPrivate: true,
    letterhead: html`${sender(form)}
      <p class="asked">${form.name}</p>
      ${intro(partsOf(view))}`,
    sheet: html`<div class="thanks">
      ${postmark(form.organizationName, day)}
      <h1>${title}</h1>
      ${body !== '' && html`<div class="lead">${richText(body)}</div>`}
      <dl class="slip">
        ${lines.map(
          ([term, value]) =>
            html`<div>
              <dt>${term}</dt>
              <dd><bdi>${value}</bdi></dd>
            </div>`,
        )}
      </dl>
      <p class="note">${words.thanks.noMail}</p>
      <p class="actions">
        ${redirectUrl !== null && html`<a class="button" href="${redirectUrl}" rel="noopener">${words.thanks.goOn}: ${new URL(redirectUrl).host}</a>`}
        ${!facts.draft && html`<a class="button quiet" href="/f/${form.publicId}${facts.search}">${words.thanks.again}</a>`}
      </p>
    </div>`,
  })
}

/** A form as a page that works without a script: all steps, problems, previous answers and the thank-you page. */
import { captchaKey, fillTimeKey, signatureKey } from '#core/forms/definition/definition.ts'
import type { PublicForm } from '#core/forms/submissions/public-forms.ts'
import type { Thanks } from '#core/forms/submissions/thanks.ts'
import { inReadingOrder } from '#core/forms/definition/layout.ts'
import type { Answer } from '../../operation/answer.ts'
import { html, type Html } from '../layout/html.ts'
import { idOf } from './controls.ts'
import { formFrame, type Embedding, type FormFrame, type ServiceLinks } from './form-frame.ts'
import { still, steps } from './form-rows.ts'
import { isQuestion, type FormView } from './form-view.ts'
import { partsOf, type Parts } from './form-parts.ts'
import { blocksOf, richText } from './rich-text.ts'
import { postmark } from './postmark.ts'
import { planElement } from './scripts/plan.ts'
import { themeSheet } from './theme-sheet.ts'
import type { FormTexts } from './texts/texts-for.ts'

export interface PageFacts {
  readonly isSecure: boolean
  /** `?lang=fr` if the visitor chose a language; otherwise empty. */
  readonly search: string
  /** Set for a draft in test mode: address of its theme, target of the form, and fields sent with the answers. */
  readonly draft?: { readonly theme: string; readonly action: string; readonly carried: Readonly<Record<string, string>> }
  /** It becomes part of the document of another site. */
  readonly isFragment?: boolean
  readonly embedding?: Embedding | undefined
  readonly links?: ServiceLinks
}

/** Reason why the form returns to the visitor, other than problems of answers. */
export interface Return {
  readonly status: number
  readonly notice?: keyof FormTexts['retry']
  readonly retryAfterSeconds?: number | undefined
}

export function formPage(view: FormView, facts: PageFacts, again?: Return): Answer {
  const { form, texts } = view
  if (form.closed) return closedPage(view, facts)
  const retry = again?.retryAfterSeconds
  return formFrame({
    ...frameOf(view, facts),
    ...formParts(view, facts, again),
    title: `${again ? `${texts.errorPrefix}: ` : ''}${form.name}`,
    captcha: form.captcha,
    ...(again && { status: again.status }),
    ...(retry !== undefined && { headers: { 'retry-after': String(Math.ceil(retry)) } }),
  })
}

/** A document of another site has its own title. */
const heading = ({ isFragment }: PageFacts, title: string): Html =>
  !isFragment ? html`<h1 tabindex="-1">${title}</h1>` : html`<h2 class="title" tabindex="-1">${title}</h2>`

/** Returns the content of the letterhead and of the sheet. */
export function formParts(view: FormView, facts: PageFacts, again?: Return): Pick<FormFrame, 'letterhead' | 'sheet'> {
  const { form } = view
  const parts = partsOf(view)
  return {
    letterhead: html`${!facts.embedding && sender(form)} ${heading(facts, form.name)}
    ${intro(parts)}${parts.steps.length > 1 && stepLinks(view, parts)}`,
    sheet: html`${again && problemSummary(view, again)}${formOf(view, parts, facts)}${!facts.draft && planOf(view, parts, again === undefined)}`,
  }
}

function planOf(view: FormView, parts: Parts, isFresh: boolean): Html {
  const make = (): Html => planElement(view, parts, isFresh)
  return view.pieces?.get(`plan ${isFresh}`, make) ?? make()
}

function formOf(view: FormView, parts: Parts, { search, draft }: PageFacts): Html {
  const { form, texts, isMostlyNeeded } = view
  const questions = form.schema.fields.filter((field) => isQuestion(field)).length
  const [action, encoding] = draft
    ? [draft.action, 'application/x-www-form-urlencoded']
    : [`/f/${form.publicId}${search}`, 'multipart/form-data']
  return html`<form method="post" action="${action}" enctype="${encoding}" accept-charset="utf-8">
    ${Object.entries(draft?.carried ?? {}).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${questions > 1 && html`<p class="rule">${isMostlyNeeded ? texts.allNeeded : texts.onlyNeeded}</p>`}
    <input type="hidden" name="${fillTimeKey}" value="${form.fillTimeToken}" />
    ${view.signature !== undefined && html`<input type="hidden" name="${signatureKey}" value="${view.signature}" />`}
    <div class="trap" aria-hidden="true">
      <label for="${form.honeypotKey}">${texts.trap}</label>
      <input id="${form.honeypotKey}" name="${form.honeypotKey}" type="text" tabindex="-1" autocomplete="off" />
    </div>
    ${steps(view, parts.steps)}${form.captcha && captchaOf(form.captcha, texts)}
    <div class="actions"><button type="submit">${form.texts.submit_label}</button></div>
    ${parts.finePrint.length > 0 && html`<div class="fine">${parts.finePrint.map(({ text = '' }) => richText(text))}</div>`}
  </form>`
}

const captchaOf = ({ provider, site_key: siteKey }: NonNullable<PublicForm['captcha']>, texts: FormTexts): Html => html`
  <div class="captcha">
    <div
      class="${provider === 'turnstile' ? 'cf-turnstile' : 'h-captcha'}"
      data-sitekey="${siteKey}"
      data-response-field-name="${captchaKey}"
    ></div>
    <noscript><p class="notice">${texts.noScript}</p></noscript>
  </div>
`

type Around = Pick<
  FormFrame,
  'links' | 'locale' | 'texts' | 'theme' | 'mode' | 'isSecure' | 'framedBy' | 'pageOf' | 'embedding' | 'languages'
>

const frameOf = (view: FormView, { isSecure, embedding, draft, links }: PageFacts): Around => ({
  links,
  ...{ locale: view.form.locale, texts: view.texts, mode: view.form.theme.mode, isSecure, framedBy: view.form.allowedOrigins, embedding },
  ...(draft ? { theme: draft.theme } : { theme: themePath(view.form), pageOf: view.form.publicId, languages: languageLinks(view) }),
})

export const themePath = ({ publicId, theme }: PublicForm): string => `/f/${publicId}/${themeSheet(theme).file}`

/** Links to the form in its other languages, each under its own name. */
function languageLinks({ form, texts }: FormView): Html | undefined {
  if (form.languages.length < 2) return undefined
  const nameOf = (language: string): string => {
    const name = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' }).of(language) ?? language
    return name.charAt(0).toLocaleUpperCase(language) + name.slice(1)
  }
  return html`<nav class="languages" aria-label="${texts.languages}">
    ${form.languages.map((language) =>
      language === form.locale
        ? html`<span aria-current="true">${nameOf(language)}</span>`
        : html`<a href="/f/${form.publicId}?lang=${language}" lang="${language}" hreflang="${language}">${nameOf(language)}</a>`,
    )}
  </nav>`
}

const sender = ({ theme: { logo }, organizationName }: PublicForm): Html =>
  logo
    ? html`<p class="sender"><img src="${logo.src}" alt="${logo.alt}" referrerpolicy="no-referrer" /></p>`
    : html`<p class="sender">${organizationName}</p>`

/** Returns the leading texts and images, which precede all questions. A list of terms and values becomes a description list. */
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

const stepLinks = ({ texts }: FormView, parts: Parts): Html =>
  html`<nav class="stepper" aria-label="${texts.steps}">
    <ol>
      ${parts.steps.map(
        ({ number, title, page }) =>
          html`<li data-page="${page.number}">
            <a href="#step-${page.number}"><span class="disc" aria-hidden="true">${number}</span><span>${title}</span></a>
          </li>`,
      )}
    </ol>
  </nav>`

/** Lists all problems, each with a link to its field. */
function problemSummary({ form, texts, problems }: FormView, { notice }: Return): Html {
  const wrong = inReadingOrder(form.schema).filter(({ key }) => Object.hasOwn(problems, key))
  return html`<div class="summary" role="alert" tabindex="-1">
    <p class="title">${wrong.length === 0 && notice !== undefined ? texts.retry[notice] : texts.errorTitle({ count: wrong.length })}</p>
    ${
      wrong.length > 0 &&
      html`<p>${texts.errorKept}</p>
        <ul>
          ${wrong.map(({ key }) => html`<li><a href="#${idOf(key)}">${problems[key]}</a></li>`)}
        </ul>`
    }
  </div>`
}

const closedPage = (view: FormView, facts: PageFacts): Answer =>
  formFrame({ ...frameOf(view, facts), ...closedParts(view, facts), title: `${view.texts.closedTitle} – ${view.form.name}` })

/** The letterhead of a page without questions. */
const aside = (view: FormView, { embedding }: PageFacts): Html =>
  embedding
    ? html``
    : html`${sender(view.form)}
        <p class="asked">${view.form.name}</p>
        ${intro(partsOf(view))}`

export function closedParts(view: FormView, facts: PageFacts): Pick<FormFrame, 'letterhead' | 'sheet'> {
  const { form, texts } = view
  return {
    letterhead: aside(view, facts),
    sheet: html`${heading(facts, texts.closedTitle)}
      <p class="lead">${form.texts.closed_message}</p>`,
  }
}

export const thanksPage = (view: FormView, facts: PageFacts, thanks: Thanks): Answer =>
  formFrame({
    ...{ ...frameOf(view, facts), languages: undefined, isPrivate: true, title: `${thanks.title} – ${view.form.name}` },
    ...thanksParts(view, facts, thanks),
  })

export function thanksParts(view: FormView, facts: PageFacts, thanks: Thanks): Pick<FormFrame, 'letterhead' | 'sheet'> {
  const { form, texts } = view
  const { title, body, redirectUrl, reference, receivedAt, maskedEmail, areFilesPending } = thanks
  const received = new Intl.DateTimeFormat(form.locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(receivedAt)
  const day = new Intl.DateTimeFormat(form.locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }).format(receivedAt)
  const lines = [[texts.thanks.reference, reference] as const, [texts.thanks.received, `${received} UTC`] as const]
  if (maskedEmail !== undefined) lines.push([texts.thanks.replyTo, maskedEmail])
  const isEmbedded = facts.embedding !== undefined
  return {
    letterhead: aside(view, facts),
    sheet: html`<div class="thanks">
      ${postmark(form.organizationName, day)} ${heading(facts, title)} ${body !== '' && html`<div class="lead">${richText(body)}</div>`}
      <dl class="slip">
        ${lines.map(
          ([term, value]) =>
            html`<div>
              <dt>${term}</dt>
              <dd><bdi>${value}</bdi></dd>
            </div>`,
        )}
      </dl>
      ${areFilesPending && html`<p class="note">${texts.thanks.filesPending}</p>`}
      <p class="note">${texts.thanks.noMail}</p>
      <p class="actions">
        ${redirectUrl !== null && html`<a class="button" href="${redirectUrl}" rel="noopener" data-onward ${isEmbedded && html`target="_top"`}>${texts.thanks.goOn}: ${new URL(redirectUrl).host}</a>`}
        ${!isEmbedded && html`<button class="quiet" type="button" data-print hidden>${texts.thanks.print}</button>`}
        ${!facts.isFragment && !facts.draft && html`<a class="button quiet" href="/f/${form.publicId}${facts.search}">${texts.thanks.again}</a>`}
      </p>
    </div>`,
  }
}

/** A form for the document of another site, with the paths of its scripts and stylesheets. */
import type { Thanks } from '#core/forms/submissions/thanks.ts'
import { html, type Html } from '../../layout/html.ts'
import { formStyle } from '../form-assets.ts'
import { ownLanguage, type FormFrame } from '../form-frame.ts'
import { closedParts, formParts, thanksParts, themePath, type PageFacts } from '../form-page.ts'
import type { FormView } from '../form-view.ts'
import { directionOf } from '../texts/texts-for.ts'
import { formScript } from './built-scripts.ts'
import type { Fragment } from './plan-types.ts'

/** A form with a captcha needs a frame, since its provider requires scripts and its own page. */
export const formFragment = (view: FormView, facts: PageFacts): Fragment =>
  fragmentOf(view, view.form.closed ? closedParts(view, facts) : formParts(view, facts))

export const thanksFragment = (view: FormView, facts: PageFacts, thanks: Thanks): Fragment =>
  fragmentOf(view, thanksParts(view, facts, thanks))

function fragmentOf(view: FormView, parts: Pick<FormFrame, 'letterhead' | 'sheet'>): Fragment {
  const { form } = view
  const script = formScript()
  return {
    html: bodyOf(view, parts).toString(),
    title: form.name,
    styles: [formStyle.path, themePath(form)],
    script: script ?? '',
    isFramed: form.captcha !== null || script === undefined,
  }
}

const bodyOf = ({ form: { locale }, texts }: FormView, { letterhead, sheet }: Pick<FormFrame, 'letterhead' | 'sheet'>): Html =>
  html`<div class="pf embedded" lang="${locale}" dir="${directionOf(locale)}" data-close="${texts.live.close}">
    <div class="head">${letterhead}</div>
    <div class="sheet"><div class="inner">${sheet}</div></div>
    <p class="footer" ${ownLanguage({ locale, texts })}>${texts.by}</p>
  </div>`

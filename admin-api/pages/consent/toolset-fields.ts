/** Toolsets that the user allows an agent; all by default. */
import { toolsets, type Toolset } from '../../actions/tool-binding.ts'
import type { FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import type { PageTexts } from '../texts/texts-for.ts'

/** Marks a form that contains the toolsets. Without it, an empty selection would look like a form without toolsets. */
const asked = 'toolsets'

/** Returns whether the form leaves toolsets out. */
export const hasFewerToolsets = (form: URLSearchParams): boolean => form.has(asked) && form.getAll('toolset').length < toolsets.length

export function toolsetFields(form: URLSearchParams, { consent: { tools } }: PageTexts, fault: FieldFault | undefined): Html {
  const chosen = form.has(asked) ? new Set(form.getAll('toolset')) : new Set<string>(toolsets)
  const row = (name: Toolset): Html =>
    html`<div class="choice">
      <input type="checkbox" id="toolset-${name}" name="toolset" value="${name}" ${chosen.has(name) && html`checked`} />
      <label for="toolset-${name}">${tools.groups[name]}</label>
    </div>`
  return html`<fieldset>
    <legend class="group">${tools.title}</legend>
    <input type="hidden" name="${asked}" value="chosen" />
    <p class="hint">${tools.hint}</p>
    ${fault?.field === 'toolset' && html`<p class="fault">${fault.message}</p>`} ${toolsets.map(row)}
  </fieldset>`
}

/** Returns undefined for all toolsets, including toolsets of later releases. */
export function readToolsets(form: URLSearchParams): readonly Toolset[] | undefined {
  const given = new Set(form.getAll('toolset'))
  const chosen = toolsets.filter((name) => given.has(name))
  return form.has(asked) && chosen.length < toolsets.length ? chosen : undefined
}

/** Returns the names of the toolsets; undefined for all. */
export const toolsetsText = (names: readonly string[] | undefined, { consent: { tools } }: PageTexts): string | undefined =>
  names && toolsets.flatMap((name) => (names.includes(name) ? [tools.groups[name]] : [])).join(', ')

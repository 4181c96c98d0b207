/** The groups of tools that a person lets an agent have: all of them, unless the person leaves some out. */
import { toolsets, type Toolset } from '../../actions/tool-binding.ts'
import type { FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import type { PageWords } from '../words/words-for.ts'

/** Says that the form has the groups, so that none of them is another answer than a form without them. */
const asked = 'toolsets'

export function toolsetFields(form: URLSearchParams, { consent: { tools } }: PageWords, fault: FieldFault | undefined): Html {
  const chosen = form.has(asked) ? new Set(form.getAll('toolset')) : new Set<string>(toolsets)
  const isWrong = fault?.field === 'toolset'
  const row = (name: Toolset): Html =>
    html`<div class="choice">
      <input type="checkbox" id="toolset-${name}" name="toolset" value="${name}" ${chosen.has(name) && html`checked`} />
      <label for="toolset-${name}">${tools.groups[name]}</label>
    </div>`
  return html`<details id="toolset" tabindex="-1" ${chosen.size < toolsets.length && html`open`}>
    <summary>${tools.title}</summary>
    <input type="hidden" name="${asked}" value="chosen" />
    <p class="hint">${tools.hint}</p>
    ${isWrong && html`<p class="fault">${fault.message}</p>`} ${toolsets.map(row)}
  </details>`
}

/** Undefined for all groups, those of later releases too. */
export function readToolsets(form: URLSearchParams): readonly Toolset[] | undefined {
  const given = new Set(form.getAll('toolset'))
  const chosen = toolsets.filter((name) => given.has(name))
  return form.has(asked) && chosen.length < toolsets.length ? chosen : undefined
}

/** The groups in words; undefined for all. */
export const toolsetsInWords = (names: readonly string[] | undefined, { consent: { tools } }: PageWords): string | undefined =>
  names && toolsets.flatMap((name) => (names.includes(name) ? [tools.groups[name]] : [])).join(', ')

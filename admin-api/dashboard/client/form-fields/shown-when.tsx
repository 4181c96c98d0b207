/** Rules that show, hide or require a field, as sentences. The logic tab edits them. */
import type { JSX } from 'preact'
import { definitionLimits, type Field } from '#core/forms/definition/definition.ts'
import { inReadingOrder, pagesOf } from '#core/forms/definition/layout.ts'
import { go, link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { texts as designer } from '../form-designer/designer-texts.ts'
import { newRule } from '../form-logic/new-rule.ts'
import { sentenceOf } from '../form-logic/sentence.ts'
import { texts } from '../form-logic/logic-texts.ts'
import type { Editing } from '../forms/use-draft.ts'
import { Icon } from '../parts/icon.tsx'

interface ShownProps {
  readonly formId: string
  readonly editing: Editing
  readonly field: Field
}

/** Returns the rules whose target is the field or the step that it starts, with their numbers. */
export function rulesAbout({ schema, logic }: Editing['definition'], key: string) {
  const page = pagesOf(schema).find(({ start }) => start?.key === key)
  const targets = new Set([key, ...(page ? [`page:${String(page.number)}`] : [])])
  return logic.rules.flatMap(({ when, then }, at) =>
    then.filter(({ target }) => target !== undefined && targets.has(target)).map(({ action }) => ({ n: at + 1, when, action })),
  )
}

export function ShownWhen({ formId, editing, field: { key, type } }: ShownProps): JSX.Element {
  const [w, d] = [texts(), designer()]
  const { definition, change } = editing
  const { schema, logic } = definition
  const rules = rulesAbout(definition, key)
  const fields = inReadingOrder(schema)
  const logicLink = link(`/forms/${formId}/logic`)
  const fresh = type === 'page_break' || logic.rules.length >= definitionLimits.rules ? undefined : newRule(schema, logic.rules, key)
  return (
    <div class="property-part shown-when">
      <h3>{d.shownWhen}</h3>
      {rules.length === 0 && <p>{d.always}</p>}
      {rules.length > 0 && (
        <ul>
          {rules.map(({ n, when, action }) => (
            <li key={`${String(n)} ${action}`}>
              <b>{d.byRule({ n, action: w.actions[action] })}</b> {sentenceOf(when, fields)}
            </li>
          ))}
        </ul>
      )}
      <div class="actions">
        {rules.length > 0 && (
          <a class="button small" href={logicLink}>
            <Icon name="routing" />
            {d.changeInLogic}
          </a>
        )}
        {rules.length === 0 && mayChange.value && fresh && (
          <button
            type="button"
            class="button small"
            onClick={() => {
              change((before) => ({ ...before, logic: { version: 1, rules: [...before.logic.rules, fresh] } }))
              go(logicLink)
            }}
          >
            <Icon name="plus" />
            {d.onlyWhen}
          </button>
        )}
      </div>
    </div>
  )
}

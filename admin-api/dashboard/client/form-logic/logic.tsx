/** Editor of the rules of a form as sentences, and a trial of their effect. */
import type { JSX } from 'preact'
import { placesOf } from '#core/forms/definition/check-logic.ts'
import { fieldsIn } from '#core/forms/definition/conditions.ts'
import { definitionLimits, type Field, type Rule, type RuleAction, type Schema } from '#core/forms/definition/definition.ts'
import { valueKinds } from '#core/forms/definition/field-properties.ts'
import { inReadingOrder, pagesOf } from '#core/forms/definition/layout.ts'
import { mayChange } from '../app/permissions.ts'
import { titleOf } from '../form-fields/field-kinds.ts'
import type { PartProps } from '../forms/part-props.ts'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { Chip, ConditionChips, isLookedAt } from './condition.tsx'
import { texts } from './logic-texts.ts'
import { newRule } from './new-rule.ts'
import { TryOut } from './try-out.tsx'

export default function Logic({ editing }: PartProps): JSX.Element {
  const w = texts()
  const { definition, check, change } = editing
  const { rules } = definition.logic
  const put = (next: readonly Rule[]): void => change((before) => ({ ...before, logic: { version: 1, rules: next } }))
  const fresh = newRule(definition.schema, rules)
  return (
    <div class="logic">
      <section class="rules-of-form" aria-label={w.title({ n: rules.length })} tabIndex={mayChange.value ? undefined : 0}>
        <h2>{rules.length === 0 ? w.noRules : w.title({ n: rules.length })}</h2>
        <p class="faint">{w.text}</p>
        <fieldset disabled={!mayChange.value}>
          <ol>
            {rules.map((rule, at) => (
              <li key={rule.id}>
                <RuleSentence
                  rule={rule}
                  n={at + 1}
                  schema={definition.schema}
                  onChange={(next) => put(rules.with(at, next))}
                  onMove={(by) => at + by >= 0 && put(rules.toSpliced(at, 1).toSpliced(at + by, 0, rule))}
                  onRemove={() => put(rules.toSpliced(at, 1))}
                />
                {check.errors
                  .filter(({ path }) => path.startsWith(`logic.rules[${String(at)}]`))
                  .map(({ path, message }) => (
                    <p key={path} class="note warn">
                      <Mark name="warning" />
                      <span lang="en">
                        <code>{path.replace(/^logic\.rules\[\d+\]\.?/, '')}</code> {message}
                      </span>
                    </p>
                  ))}
              </li>
            ))}
          </ol>
          {mayChange.value && fresh && rules.length < definitionLimits.rules && (
            <button type="button" class="button" onClick={() => put([...rules, fresh])}>
              <Icon name="plus" />
              {w.addRule}
            </button>
          )}
          {!fresh && <p class="faint">{w.needsFields}</p>}
        </fieldset>
      </section>
      <TryOut editing={editing} />
    </div>
  )
}

interface RuleProps {
  readonly rule: Rule
  readonly n: number
  readonly schema: Schema
  readonly onChange: (rule: Rule) => void
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}

function RuleSentence({ rule, n, schema, onChange, onMove, onRemove }: RuleProps): JSX.Element {
  const w = texts()
  const targets = targetsOf(schema, rule)
  const put = (then: readonly RuleAction[]): void => onChange({ ...rule, then })
  const fields = inReadingOrder(schema).filter(isLookedAt)
  return (
    <div class="rule-sentence">
      <span class="rule-number">{n}</span>
      <div>
        <div class="chips">
          <span class="chip-word strong">{w.when}</span>
          <ConditionChips condition={rule.when} fields={fields} onChange={(when) => onChange({ ...rule, when })} />
        </div>
        <div class="chips">
          <span class="chip-word">{w.then}</span>
          {rule.then.map((action, at) => (
            <span class="chip-group" key={at}>
              {at > 0 && <span class="chip-word">{w.and}</span>}
              <ActionChips action={action} targets={targets} onChange={(next) => put(rule.then.with(at, next))} />
              {rule.then.length > 1 && (
                <button
                  type="button"
                  class="button quiet square small"
                  aria-label={w.remove}
                  onClick={() => put(rule.then.toSpliced(at, 1))}
                >
                  <Icon name="close" />
                </button>
              )}
            </span>
          ))}
          {targets.fields[0] && (
            <button
              type="button"
              class="button quiet small"
              onClick={() => put([...rule.then, { action: 'show', target: targets.fields[0]?.key ?? '' }])}
            >
              <Icon name="plus" />
              {w.addAction}
            </button>
          )}
        </div>
      </div>
      <div class="field-tools">
        <button type="button" class="button quiet square small" aria-label={w.upRule({ n })} onClick={() => onMove(-1)}>
          <Icon name="up" />
        </button>
        <button type="button" class="button quiet square small" aria-label={w.downRule({ n })} onClick={() => onMove(1)}>
          <Icon name="down" />
        </button>
        <button type="button" class="button quiet square small" aria-label={w.removeRule({ n })} onClick={onRemove}>
          <Icon name="trash" />
        </button>
      </div>
    </div>
  )
}

interface Targets {
  readonly fields: readonly Field[]
  /** Pages that start after all tested fields. */
  readonly pages: readonly { readonly number: number; readonly title: string }[]
}

/** Returns possible targets: fields and pages after all fields that the rule tests. */
function targetsOf(schema: Schema, { when }: Rule): Targets {
  const { order, pageStarts } = placesOf(schema)
  const latest = Math.max(-1, ...fieldsIn(when).map((key) => order.get(key) ?? -1))
  const fields = inReadingOrder(schema).filter(({ key, type }) => type !== 'page_break' && (order.get(key) ?? 0) > latest)
  const pages = pagesOf(schema)
    .filter(({ number }) => number > 1 && (pageStarts.get(number) ?? 0) > latest)
    .map(({ number, start }) => ({ number, title: start?.title ?? '' }))
  return { fields, pages }
}

interface ActionProps {
  readonly action: RuleAction
  readonly targets: Targets
  readonly onChange: (action: RuleAction) => void
}

function ActionChips({ action, targets: { fields, pages }, onChange }: ActionProps): JSX.Element {
  const w = texts()
  const { action: what, target, page } = action
  const isNeed = what === 'require' || what === 'unrequire'
  const able = isNeed ? fields.filter(({ type }) => valueKinds[type] !== 'none') : fields
  const value = what === 'jump' ? String(page) : (target ?? '')
  const turn = (next: RuleAction['action']): void => {
    if (next === 'jump') onChange({ action: next, page: pages[0]?.number ?? 'submit' })
    else onChange({ action: next, target: target ?? able[0]?.key ?? '' })
  }
  const known = [
    ...(what === 'jump' ? ['submit', ...pages.map(({ number }) => String(number))] : able.map(({ key }) => key)),
    ...(what === 'jump' || isNeed ? [] : pages.map(({ number }) => `page:${String(number)}`)),
  ]
  return (
    <>
      <Chip label={w.action} kind="action" value={what} onChange={(next) => turn(next as RuleAction['action'])}>
        {(Object.keys(w.actions) as RuleAction['action'][]).map((one) => (
          <option key={one} value={one}>
            {w.actions[one]}
          </option>
        ))}
      </Chip>
      <Chip
        label={w.target}
        kind="question"
        value={value}
        onChange={(next) =>
          onChange(what === 'jump' ? { action: what, page: next === 'submit' ? next : Number(next) } : { action: what, target: next })
        }
      >
        {!known.includes(value) && <option value={value}>{value}</option>}
        {what !== 'jump' &&
          able.map((field) => (
            <option key={field.key} value={field.key}>
              {plain(titleOf(field))}
            </option>
          ))}
        {!isNeed &&
          pages.map(({ number, title }) => (
            <option key={number} value={what === 'jump' ? String(number) : `page:${String(number)}`}>
              {w.page({ n: number, hasTitle: title !== '', title: plain(title) })}
            </option>
          ))}
        {what === 'jump' && <option value="submit">{w.submit}</option>}
      </Chip>
    </>
  )
}

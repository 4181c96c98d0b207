/** Checks the rules of a form: typed conditions on earlier fields, so that one forward pass can evaluate them. */
import { checkProperties, isObject, listOf, matching, number, text, type Findings, type JsonObject } from './checks.ts'
import { fieldsIn, operatorsOf, withCount, withField, withList, withoutValue } from './conditions.ts'
import { dateOf, isDateType } from './dates.ts'
import { definitionLimits, type Condition, type Field, type Operator, type Schema } from './definition.ts'
import { valueKinds } from './field-properties.ts'
import { pagesOf } from './layout.ts'

/** The order and the page of every field. */
interface Places {
  readonly fields: ReadonlyMap<string, Field>
  readonly order: ReadonlyMap<string, number>
  readonly pageOf: ReadonlyMap<string, number>
  readonly pages: number
  /** Position of the first field of each page. */
  readonly pageStarts: ReadonlyMap<number, number>
}

export function placesOf(schema: Schema): Places {
  const fields = new Map<string, Field>()
  const order = new Map<string, number>()
  const pageOf = new Map<string, number>()
  const pageStarts = new Map<number, number>()
  const pages = pagesOf(schema)
  for (const { number: page, start, rows } of pages) {
    pageStarts.set(page, order.size)
    for (const field of [...(start ? [start] : []), ...rows.flatMap((row) => row.map((placed) => placed.field))]) {
      fields.set(field.key, field)
      order.set(field.key, order.size)
      pageOf.set(field.key, page)
    }
  }
  return { fields, order, pageOf, pages: pages.length, pageStarts }
}

export function checkLogic(logic: unknown, places: Places, found: Findings): void {
  const path = 'logic'
  if (!isObject(logic) || logic['version'] !== 1 || !Array.isArray(logic['rules']))
    return found.report(path, 'invalid_type', 'must be {"version": 1, "rules": […]}')
  const rules = logic['rules'] as readonly unknown[]
  if (rules.length > definitionLimits.rules)
    return found.report(`${path}.rules`, 'too_many', `must have at most ${definitionLimits.rules} entries`)
  const ids = new Set<unknown>()
  for (const [at, rule] of rules.entries()) {
    const here = `${path}.rules[${at}]`
    checkProperties(isObject(rule) ? rule : {}, here, ruleProperties, found)
    if (!isObject(rule)) continue
    if (ids.has(rule['id'])) found.report(`${here}.id`, 'duplicate_id', 'is the id of another rule')
    ids.add(rule['id'])
    const isSound = checkCondition(rule['when'], `${here}.when`, places, found)
    if (Array.isArray(rule['then'])) checkActions(rule as JsonObject & { then: unknown[] }, here, isSound, places, found)
  }
}

const ruleProperties = {
  properties: { id: matching(/^[\w-]{1,64}$/, 'letters, digits, _ and -'), when: () => {}, then: listOf(() => {}, 20, 1) },
  required: ['id', 'when', 'then'],
}

/** Checks a condition. Returns true if it has no problems. */
export function checkCondition(condition: unknown, path: string, places: Places, found: Findings): boolean {
  const before = found.list.length
  const count = checkPart(condition, path, 1, places, found)
  if (count > definitionLimits.conditions) found.report(path, 'too_many', `must have at most ${definitionLimits.conditions} conditions`)
  return found.list.length === before
}

/** Returns the number of comparisons. */
function checkPart(condition: unknown, path: string, depth: number, places: Places, found: Findings): number {
  if (depth > definitionLimits.depth) {
    found.report(path, 'too_deep', `must nest at most ${definitionLimits.depth} levels`)
    return 0
  }
  const keys = isObject(condition) ? Object.keys(condition) : []
  const [key = ''] = keys
  if (isObject(condition) && keys.length === 1 && (key === 'all' || key === 'any')) {
    const parts = condition[key]
    if (Array.isArray(parts) && parts.length > 0 && parts.length <= definitionLimits.conditions)
      return parts.reduce((sum: number, part, at) => sum + checkPart(part, `${path}.${key}[${at}]`, depth + 1, places, found), 0)
    found.report(`${path}.${key}`, 'invalid_type', `must be a list of 1 to ${definitionLimits.conditions} conditions`)
    return 0
  }
  if (isObject(condition) && keys.length === 1 && key === 'not') return checkPart(condition['not'], `${path}.not`, depth + 1, places, found)
  if (isObject(condition) && typeof condition['field'] === 'string') checkComparison(condition, path, places, found)
  else found.report(path, 'invalid_condition', 'must be {"field", "op", "value"}, {"all": […]}, {"any": […]} or {"not": …}')
  return 1
}

function checkComparison(comparison: JsonObject, path: string, { fields }: Places, found: Findings): void {
  for (const name of Object.keys(comparison))
    if (name !== 'field' && name !== 'op' && name !== 'value')
      found.report(`${path}.${name}`, 'unknown_property', 'is not a known property; remove it')
  const field = fields.get(comparison['field'] as string)
  if (!field) return found.report(`${path}.field`, 'logic_unknown_field', 'is not the key of a field')
  const operators = operatorsOf[valueKinds[field.type]]
  if (operators.length === 0) return found.report(`${path}.field`, 'logic_unknown_field', 'is a field without an answer')
  const op = comparison['op'] as Operator
  if (!operators.includes(op))
    return found.report(`${path}.op`, 'logic_operator', `must be one of ${operators.join(', ')} for a field of type ${field.type}`)
  checkValue(field, op, comparison['value'], `${path}.value`, fields, found)
}

function checkValue(field: Field, op: Operator, value: unknown, path: string, fields: ReadonlyMap<string, Field>, found: Findings): void {
  const kind = valueKinds[field.type]
  if (withoutValue.has(op))
    return value === undefined ? undefined : found.report(path, 'unknown_property', `is not needed for ${op}; leave it out`)
  if (isObject(value)) {
    const other = typeof value['field'] === 'string' ? fields.get(value['field']) : undefined
    const isLike = other && valueKinds[other.type] === kind && (kind === 'number' || other.type === field.type)
    if (isLike && (kind === 'number' || kind === 'date') && withField.has(op) && Object.keys(value).length === 1) return
    return found.report(
      path,
      'logic_value',
      'must be a value, or {"field"} with the key of a field of the same type, for comparisons of numbers or dates',
    )
  }
  const checkOne = (one: unknown, at: string): void => checkLiteral(field, withCount.has(op), one, at, found)
  if (withList.has(op)) return listOf(checkOne, definitionLimits.options, 1)(value, path, found)
  checkOne(value, path)
}

function checkLiteral(field: Field, isCount: boolean, value: unknown, path: string, found: Findings): void {
  if (isCount || valueKinds[field.type] === 'number') return number(value, path, found)
  const { type, options, allow_other: allowsOther } = field
  if (isDateType(type)) {
    if (typeof value !== 'string' || dateOf(type, value) === undefined)
      found.report(path, 'invalid_date', `must be a ${type} in the format of form answers`)
    return
  }
  text(1000, { min: 1 })(value, path, found)
  if (options && !allowsOther && !options.some((option) => option.value === value))
    found.report(path, 'logic_value', 'is not the value of an option of the field')
}

function checkActions(rule: JsonObject & { then: unknown[] }, path: string, isSound: boolean, places: Places, found: Findings): void {
  const looked = isSound ? fieldsIn(rule['when'] as Condition) : []
  const latest = Math.max(-1, ...looked.map((key) => places.order.get(key) ?? -1))
  const decidedOn = Math.max(1, ...looked.map((key) => places.pageOf.get(key) ?? 1))
  for (const [at, action] of rule.then.entries()) {
    const here = `${path}.then[${at}]`
    if (!isObject(action)) found.report(here, 'invalid_type', 'must be an object')
    else if (action['action'] === 'jump') checkJump(action, here, decidedOn, places, found)
    else checkTarget(action, here, latest, places, found)
  }
}

function checkJump(action: JsonObject, path: string, decidedOn: number, { pages }: Places, found: Findings): void {
  checkProperties(action, path, { properties: { action: () => {}, page: () => {} }, required: ['page'] }, found)
  const { page } = action
  if (page === undefined || page === 'submit') return
  if (typeof page !== 'number' || !Number.isInteger(page) || page < 1 || page > pages)
    return found.report(`${path}.page`, 'logic_unknown_page', `must be the number of a page, from 1 to ${pages}, or "submit"`)
  if (page <= decidedOn)
    found.report(`${path}.page`, 'logic_forward_reference', `must be a later page than page ${decidedOn}, the page of the condition`)
}

const targeting = new Set<unknown>(['show', 'hide', 'require', 'unrequire'])

function checkTarget(action: JsonObject, path: string, latest: number, places: Places, found: Findings): void {
  if (!targeting.has(action['action']))
    return found.report(`${path}.action`, 'not_allowed', 'must be show, hide, require, unrequire or jump')
  checkProperties(action, path, { properties: { action: () => {}, target: () => {} }, required: ['target'] }, found)
  const { target } = action
  if (typeof target !== 'string') return
  const page = /^page:(\d{1,2})$/.exec(target)?.[1]
  const isRequirement = action['action'] === 'require' || action['action'] === 'unrequire'
  const field = places.fields.get(target)
  if (page === undefined && (!field || field.type === 'page_break' || (isRequirement && valueKinds[field.type] === 'none')))
    return found.report(`${path}.target`, 'logic_unknown_field', 'must be the key of a field, or page:N for show and hide')
  if (page !== undefined && (isRequirement || Number(page) < 1 || Number(page) > places.pages))
    return found.report(
      `${path}.target`,
      'logic_unknown_page',
      `must be a page from page:1 to page:${places.pages}, which only show and hide accept`,
    )
  const place = page === undefined ? places.order.get(target) : places.pageStarts.get(Number(page))
  if (latest >= (place ?? 0))
    found.report(`${path}.target`, 'logic_forward_reference', 'must be after every field in the condition of the rule')
}

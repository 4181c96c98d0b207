/**
 * Evaluates a form with answers: visible fields, required fields and problems. One forward pass in reading order, identical on the server
 * and in browsers. An invisible field has no answer, is never required and is never stored.
 */
import { readAnswer, type AnswerProblem, type Reading } from './answers.ts'
import { fieldsIn, holds } from './conditions.ts'
import {
  valueKinds,
  type Answer,
  type Answers,
  type Condition,
  type Definition,
  type Field,
  type Rule,
  type RuleAction,
} from './definition.ts'
import { pagesOf } from './layout.ts'

export interface Evaluation {
  /** Keys of visible fields in reading order, including fields without an answer. */
  readonly visible: ReadonlySet<string>
  /** Numbers of the visited pages. */
  readonly pages: ReadonlySet<number>
  readonly required: ReadonlySet<string>
  /** Valid answers of visible fields. */
  readonly answers: Answers
  /** Problems by field key. */
  readonly problems: Readonly<Record<string, readonly AnswerProblem[]>>
}

export interface Given extends Reading {
  /** Values from the visitor by field key. */
  readonly values: Readonly<Record<string, unknown>>
  /** Keys of file fields with a file. */
  readonly files?: ReadonlySet<string>
}

/** Actions of all rules by target. */
interface Actions {
  readonly byTarget: ReadonlyMap<string, readonly TargetedAction[]>
  /** Jumps by the page that decides them. */
  readonly jumps: ReadonlyMap<number, readonly TargetedAction[]>
}

interface TargetedAction extends RuleAction {
  readonly when: Condition
}

export function evaluate({ schema, logic }: Pick<Definition, 'schema' | 'logic'>, given: Given): Evaluation {
  const pages = pagesOf(schema)
  const fields = new Map(schema.fields.map((field) => [field.key, field]))
  const pageOf = new Map(pages.flatMap(({ number, rows }) => rows.flat().map(({ field }) => [field.key, number] as const)))
  const actions = actionsOf(logic.rules, pageOf)
  const state = new State(actions, fields, given)
  let next: number | 'submit' = 1
  for (const { number, start, rows } of pages) {
    const isPassed: boolean = next === 'submit' || number < next || !state.isShown(`page:${number}`)
    if (isPassed) continue
    state.pages.add(number)
    if (start) state.visible.add(start.key)
    for (const row of rows) for (const { field } of row) state.take(field)
    next = state.jumpFrom(number) ?? number + 1
  }
  return state
}

class State implements Evaluation {
  readonly visible = new Set<string>()
  readonly pages = new Set<number>()
  readonly required = new Set<string>()
  readonly answers: Record<string, Answer> = {}
  readonly problems: Record<string, readonly AnswerProblem[]> = {}
  readonly #actions: Actions
  readonly #fields: ReadonlyMap<string, Field>
  readonly #given: Given

  constructor(actions: Actions, fields: ReadonlyMap<string, Field>, given: Given) {
    this.#actions = actions
    this.#fields = fields
    this.#given = given
  }

  /** Whether the target is visible. A target of a `show` rule is hidden by default. A matching `hide` rule overrides all `show` rules. */
  isShown(target: string): boolean {
    const actions = this.#actions.byTarget.get(target) ?? []
    const shows = actions.filter(({ action }) => action === 'show')
    if (actions.some((each) => each.action === 'hide' && this.#holds(each))) return false
    return shows.length === 0 || shows.some((each) => this.#holds(each))
  }

  take(field: Field): void {
    const { key, type } = field
    if (!this.isShown(key)) return
    this.visible.add(key)
    if (valueKinds[type] === 'none') return
    const isRequired = this.#isRequired(field)
    if (isRequired) this.required.add(key)
    if (type === 'file_upload') {
      if (this.#given.files?.has(key)) this.answers[key] = 'file'
      else if (isRequired) this.problems[key] = [{ code: 'file_missing', message: field.required_message ?? 'Add a file.' }]
      return
    }
    const { answer = type === 'checkbox' ? false : undefined, problem } = this.#read(field)
    if (problem) this.problems[key] = [problem]
    else if (isRequired && (answer === undefined || answer === false)) this.problems[key] = [missing(field)]
    else if (answer !== undefined) this.answers[key] = answer
  }

  /** Returns the next page from the first matching jump of this page. */
  jumpFrom(page: number): number | 'submit' | undefined {
    return this.#actions.jumps.get(page)?.find((each) => this.#holds(each))?.page
  }

  #read(field: Field): ReturnType<typeof readAnswer> {
    if (field.type === 'hidden' && field.source === 'static') return field.default === undefined ? {} : { answer: field.default }
    const { values } = this.#given
    return readAnswer(field, Object.hasOwn(values, field.key) ? values[field.key] : undefined, this.#given)
  }

  /** Whether the field is required. A matching `unrequire` rule overrides all other rules. */
  #isRequired({ key, must_be_true: mustBeTrue = false, required = mustBeTrue }: Field): boolean {
    const actions = this.#actions.byTarget.get(key) ?? []
    if (actions.some((each) => each.action === 'unrequire' && this.#holds(each))) return false
    return required || mustBeTrue || actions.some((each) => each.action === 'require' && this.#holds(each))
  }

  #holds({ when }: TargetedAction): boolean {
    return holds(when, this.answers, this.#fields)
  }
}

function missing({ type, required_message: own, must_be_true: mustBeTrue }: Field): AnswerProblem {
  if (type === 'consent' || mustBeTrue) return { code: 'must_accept', message: own ?? 'Tick this to go on.' }
  return { code: 'required', message: own ?? 'Fill in this field.' }
}

function actionsOf(rules: readonly Rule[], pageOf: ReadonlyMap<string, number>): Actions {
  const byTarget = new Map<string, TargetedAction[]>()
  const jumps = new Map<number, TargetedAction[]>()
  for (const { when, then } of rules)
    for (const action of then) {
      const targeted = { ...action, when }
      if (action.action === 'jump') addTo(jumps, Math.max(1, ...fieldsIn(when).map((key) => pageOf.get(key) ?? 1)), targeted)
      else if (action.target !== undefined) addTo(byTarget, action.target, targeted)
    }
  return { byTarget, jumps }
}

function addTo<K>(lists: Map<K, TargetedAction[]>, key: K, action: TargetedAction): void {
  const list = lists.get(key)
  if (list) list.push(action)
  else lists.set(key, [action])
}

/**
 * Description of a screen that lists, creates, edits and deletes one kind of resource. Rows, filters and bodies have the types of the
 * path, so a wrong field is a compile error.
 */
import type { ComponentChildren } from 'preact'
import type { Secret } from '../parts/secret-dialog.tsx'
import type { Answer, Input, ListRoute, Route, Row } from '../wire/route.ts'

/** Collections without path parameters whose rows have an id. */
export type ListPath = {
  [P in ListRoute]: P extends `${string}${' ' | '{'}${string}` ? never : Row<P> extends AnyRow ? P : never
}[ListRoute]

type QueryOf<R extends Route> = Input<R> extends { query?: infer Q } ? NonNullable<Q> : never
type BodyOf<R extends Route> = [R] extends [never] ? never : Input<R> extends { body?: infer B } ? NonNullable<B> : never
type AnswerOf<R extends Route> = [R] extends [never] ? never : Answer<R>
type Has<R extends string, T> = R extends Route ? T : never

export interface AnyRow {
  readonly id: string
}

export type Draft = Readonly<Record<string, unknown>>

/** A text of the catalog. Descriptions exist before the texts are loaded. */
type Words = () => string

interface ColumnBase<R> {
  readonly head: Words
  readonly cell: (row: R) => ComponentChildren
  /** Whether only wide windows show it. */
  readonly isSpare?: true
  /** Place on phones. Default: the status and the first text are the second line, the first time or number is at the right end. */
  readonly narrow?: 'second' | 'right' | 'none'
}

/** The kind sets width, alignment and typeface. */
interface PlainColumn<R> extends ColumnBase<R> {
  readonly kind: 'status' | 'text' | 'number' | 'time' | 'strip'
  /** URL of the cell. On phones the row is one link, and the cell is plain. */
  readonly to?: (row: R) => string | undefined
}

/** The name of the row, with its mark and its link. */
interface NameColumn<R> extends ColumnBase<R> {
  readonly kind: 'name'
  readonly cell: (row: R) => string
  /** A second line in small type. */
  readonly under?: (row: R) => string
}

export type Column<R> = PlainColumn<R> | NameColumn<R>

/** An entry of the row menu. */
interface RowAction<R> {
  readonly label: (row: R) => string
  readonly run: (row: R) => Promise<unknown>
  /** Confirmation text. */
  readonly done: (row: R) => string
  /** Reverts the action. Adds a button to the confirmation. */
  readonly undo?: (row: R) => Promise<unknown>
}

interface Remove<R> {
  readonly label: Words
  readonly done: (row: R) => string
  /** `undo` deletes at once and can create the row again; `effects` lists consequences, and the user types the name first. */
  readonly how: { readonly undo: (row: R) => Promise<unknown> } | { readonly effects: (row: R) => readonly string[] }
  /** Confirmation text for selected rows. Adds the action to the bar of the selection. */
  readonly many?: (rows: number) => string
}

interface Own<D, V> {
  readonly own: (props: {
    readonly value: V
    readonly draft: D
    readonly fault: string | undefined
    readonly onChange: (to: V) => void
  }) => ComponentChildren
}

type TextControl = 'text' | 'url' | 'number' | 'datetime'

interface Choose<V> {
  readonly choose: () => readonly (readonly [value: V, label: string])[]
}

interface Tick<V> {
  readonly tick: readonly V[]
}

type ControlOf<D, V> = [V] extends [string]
  ? TextControl | Choose<V> | Own<D, V>
  : [V] extends [readonly (infer E)[]]
    ? Tick<E> | Own<D, V>
    : Own<D, V>

interface Field<D, N, Control> {
  readonly name: N
  readonly label: Words
  readonly hint?: (draft: D) => string | undefined
  readonly type: Control
  /** Name on the wire, if it differs: faults of the API find their field by it. */
  readonly wire?: string
  readonly only?: 'create' | 'update'
}

type FieldsOf<D> = { [N in keyof D & string]: Field<D, N, ControlOf<D, D[N]>> }[keyof D & string]

export type AnyField = Field<Draft, string, TextControl | Choose<string> | Tick<string> | Own<Draft, unknown>>

interface Form<R, New, Made, Changes, D> {
  /** Initial values. */
  readonly begin: (row?: R) => D
  readonly fields: readonly FieldsOf<NoInfer<D>>[]
  readonly create?: {
    readonly label: Words
    /** Label of the button, if it differs. */
    readonly submit?: Words
    readonly body: (draft: NoInfer<D>) => New
    /** Shown once, in place of the confirmation. */
    readonly secret?: (made: Made) => Secret
    readonly done?: (draft: NoInfer<D>) => string
  }
  readonly update?: {
    readonly label: (row: R) => string
    readonly body: (draft: NoInfer<D>, row: R) => Changes
    readonly done: (row: R) => string
  }
}

interface Pills<N, V> {
  readonly name: N
  readonly label: Words
  readonly values: readonly V[]
}

interface FilterField<N> {
  readonly name: N
  readonly label: Words
  readonly hint: Words
}

type FilterOf<Q> = {
  [N in keyof Q & string]-?: string extends Q[N]
    ? FilterField<N>
    : Q[N] extends string | undefined
      ? Pills<N, Exclude<Q[N], undefined>>
      : never
}[keyof Q & string]

interface Tool {
  readonly label: Words
  readonly icon: 'download' | 'share'
  /** URL, or an action with the current filters. */
  readonly href?: () => string
  readonly run?: (filter: Readonly<Record<string, string>>) => Promise<void>
  readonly isForChanges?: true
}

interface Description<R, Q, New, Made, Changes, D> {
  readonly title: Words
  /** Error text of the list. */
  readonly failure: Words
  /** The role that may change rows. */
  readonly change: 'developer' | 'admin'
  readonly search?: Words
  readonly filters?: readonly FilterOf<Q>[]
  /** Sentence and figures above the rows. Without rows, it is not shown; while they load, `rows` is empty. */
  readonly above?: (props: { readonly rows: readonly R[] }) => ComponentChildren
  readonly name: (row: R) => string
  readonly mark: (row: R) => string
  readonly open: (row: R) => string
  readonly columns: readonly Column<R>[]
  readonly form?: Form<R, New, Made, Changes, D>
  readonly actions?: readonly RowAction<R>[]
  readonly tools?: readonly Tool[]
  readonly empty: { readonly title: Words; readonly text: Words; readonly docs?: { readonly href: string; readonly label: Words } }
  /** Further content below the rows. */
  readonly below?: (props: { readonly reload: () => void }) => ComponentChildren
}

/** Description of the screen of a collection. `D` holds the values of its form. */
export type Resource<P extends ListPath, D extends object = Draft> = Description<
  Row<P>,
  QueryOf<P>,
  BodyOf<Extract<Route, `POST ${P}`>>,
  AnswerOf<Extract<Route, `POST ${P}`>>,
  BodyOf<Extract<Route, `PATCH ${P}/{id}`>>,
  D
> & {
  readonly path: P
  /** Whether rows belong to projects: reads have the query `project`, and creations the field `project_id`. */
  readonly isOfProject?: QueryOf<P> extends { project?: string } ? true : never
  readonly remove?: Has<`DELETE ${P}/{id}`, Remove<Row<P>>>
}

/** A description without the types of its path. */
export interface Described extends Omit<Description<AnyRow, never, object, AnyRow, object, Draft>, 'filters' | 'form'> {
  readonly path: string
  readonly isOfProject?: boolean
  readonly filters?: readonly (Pills<string, string> | FilterField<string>)[]
  readonly form?: Omit<Form<AnyRow, object, AnyRow, object, Draft>, 'fields'> & { readonly fields: readonly AnyField[] }
  readonly remove?: Remove<AnyRow>
}

export const untyped = <P extends ListPath, D extends object>(resource: Resource<P, D>): Described => resource as unknown as Described

/** Checks a description that several components use. */
export const resource = <P extends ListPath, D extends object = Draft>(described: Resource<P, D>): Resource<P, D> => described

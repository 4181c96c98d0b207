/**
 * `resource('/v1/webhooks', {…})` creates the standard actions of a resource, each with its standard path, status, scope, refusals and id.
 * A declaration states only the differences.
 */
import assert from 'node:assert'
import * as z from 'zod'
import type { Feature } from '#config/plans/features.ts'
import type { Scope } from '#core/access/principal/principal.ts'
import type { RefusalCode } from '#core/refusals.ts'
import type { Page } from '#store/database.ts'
import type { Access, Method } from '../operation/operation.ts'
import type { Camel, Decoded, Encoder } from '../wire/fields/codec.ts'
import { id } from '../wire/fields/text.ts'
import { pageEncoder, pageFields, project } from '../wire/fields/paging.ts'
import { action, type Action, type ActionFacts, type ActionSpec, type CallContext, type PrincipalFor } from './action.ts'
import { customField, type GraphqlFacts, type GraphqlNoun } from './graphql-binding.ts'
import type { HttpBinding } from './http-binding.ts'

interface ResourceFacts<Key extends string, A extends Access> {
  /** The singular in the ids of its actions: `Webhook` gives `getWebhook`. */
  readonly name: string
  /** The plural, if it is not the name with an s. */
  readonly plural?: string
  readonly tags: readonly string[]
  /** Adds its actions to GraphQL; may give other names for the fields. */
  readonly graphql?: true | GraphqlNoun
  /** The feature flag that its actions require. */
  readonly feature?: Feature
  /** The scope of its actions. Defaults to `api:read` for reading and `api:admin` for writing actions. */
  readonly scope?: A
  /** The field that identifies a resource, in the path and in the input. Defaults to `id`. */
  readonly key?: Key
  /** The schema of that field. Defaults to an `id`. */
  readonly keySchema?: typeof id
}

type Shape = Readonly<Record<string, z.core.$ZodType>>
type ObjectOf<S extends Shape> = z.ZodObject<S, z.core.$ZodObjectConfig>
/** An input that includes the key of the resource. */
type Keyed<Key extends string, S extends Shape> = ObjectOf<Readonly<Record<Key, typeof id>> & S>
type NoFields = Readonly<Record<never, never>>

/** The declaration of an action: its additions to the standard of its kind, and its differences from it. */
type Spec<I extends z.ZodType, R, O extends z.ZodType, A extends Access, C> = Pick<
  ActionSpec<I, R, O, A, C>,
  'summary' | 'examples' | 'run' | 'runMany' | 'tool'
> &
  Partial<Pick<ActionFacts, 'id' | 'description' | 'errors' | 'openToSendOnlyKeys' | 'openToBilling'>> & {
    readonly scope?: A
    /** The flag of the action; `always` if it stays available when the flag of the resource is off. */
    readonly feature?: Feature | 'always'
    readonly http?: Partial<HttpBinding<R, C>>
    /** Differences of its GraphQL field from the standard; `none` for no field. */
    readonly graphql?: GraphqlFacts | 'none'
  }

type Answered<R, O extends z.ZodType, C> = { readonly output: Encoder<R, O, NoInfer<C>> }
type MayAnswer<R, O extends z.ZodType, C> = { readonly output?: Encoder<R, O, NoInfer<C>> }
type Taking<S extends Shape> = { readonly input: ObjectOf<S> }

type Reading<Key extends string, S extends Shape, R, O extends z.ZodType, A extends Access, C> = Spec<Keyed<Key, S>, R, O, A, C> &
  Answered<R, O, C> &
  Partial<Taking<S>>

/** The input of a list: a page of the entries that match the filter. `?project=` and `?project_id=` are `projectId` in the core. */
type ListInput<S extends Shape> = { readonly limit: number; readonly cursor: string | undefined } & Omit<Decoded<ObjectOf<S>>, 'project'> &
  (S extends { readonly project: unknown } ? { readonly projectId: string | undefined } : unknown)

type ListSpec<I extends z.ZodType, S extends Shape, Keys, Row, O extends z.ZodType, A extends Access, C> = Omit<
  Spec<I, Page<Row>, O, A, C>,
  'run' | 'runMany'
> & {
  /** Fields of the query in addition to `limit` and `cursor`. Defaults to `project`. */
  readonly filter?: S
  /** The encoder of an entry. */
  readonly item: Encoder<Row, O, NoInfer<C>>
  readonly run: (context: CallContext<PrincipalFor<A>, C>, input: ListInput<S> & Keys) => Promise<Page<Row>>
}

const noFilter: NoFields = {}

/** Returns the functions that create actions of the resource at this path. */
export function resource<const Key extends string = 'id', const A extends Access = Scope>(path: string, facts: ResourceFacts<Key, A>) {
  const { name, plural = `${name}s`, key = 'id' as Key, keySchema = id } = facts
  const one = `${path}/{${key}}`
  const keyField = { [key]: keySchema } as Readonly<Record<Key, typeof id>>
  const keyed = <S extends Shape>(input: ObjectOf<S> | undefined): Keyed<Key, S> => withFields(keyField, input) as Keyed<Key, S>

  const make = <C>(custom: Custom, input: z.ZodType, declared: object): Action<C> =>
    customAction({ ...facts, plural }, custom, input, declared)

  function makeList<S extends Shape, Keys, Row, O extends z.ZodType, C>(
    custom: Custom,
    before: Shape,
    { filter, item, run, ...spec }: ListSpec<z.ZodType, S, Keys, Row, O, A, C>,
  ): Action<C> {
    const input = z.strictObject({ ...before, ...pageFields, ...(filter ?? { project }) })
    return make(custom, input, {
      ...spec,
      output: pageEncoder(item),
      list: { item },
      run: (context: CallContext<PrincipalFor<A>, C>, { project: projectId, ...asked }: Readonly<Record<string, unknown>>) =>
        run(context, { ...asked, ...('project' in input.shape && { projectId: projectId ?? asked['projectId'] }) } as never),
    })
  }

  return {
    /** `GET` on the path. */
    list: <Row, O extends z.ZodType, S extends Shape = { readonly project: typeof project }, C = unknown>(
      spec: ListSpec<z.ZodType, S, unknown, Row, O, A, C>,
    ): Action<C> => makeList(reading('GET', path, `list${plural}`), {}, spec),
    /** `GET` on a list of a resource: its attempts, its messages. */
    listOf: <Row, O extends z.ZodType, S extends Shape = NoFields, C = unknown>(
      what: string,
      spec: ListSpec<z.ZodType, S, Readonly<Record<Camel<Key>, string>>, Row, O, A, C>,
    ): Action<C> => makeList(reading('GET', `${one}/${what}`, `list${name}${pascal(what)}`), keyField, { filter: noFilter as S, ...spec }),
    /** `GET` on a resource. */
    read: <R, O extends z.ZodType, S extends Shape = NoFields, C = unknown>({ input, ...spec }: Reading<Key, S, R, O, A, C>): Action<C> =>
      make(reading('GET', one, `get${name}`), keyed(input), spec),
    /** `GET` on a single part of a resource: its records, its health. */
    readOf: <R, O extends z.ZodType, S extends Shape = NoFields, C = unknown>(
      what: string,
      { input, ...spec }: Reading<Key, S, R, O, A, C>,
    ): Action<C> => make(reading('GET', `${one}/${what}`, `get${name}${pascal(what)}`), keyed(input), spec),
    /** `POST` to the path. */
    create: <I extends z.ZodType, R, O extends z.ZodType, C = unknown>({
      input,
      ...spec
    }: Spec<I, R, O, A, C> & Answered<R, O, C> & { readonly input: I }): Action<C> =>
      make({ ...writing('POST', path, `create${name}`), status: 201 }, input, spec),
    /** `PATCH` on a resource: omitted fields keep their values. */
    change: <S extends Shape, R, O extends z.ZodType, C = unknown>({
      input,
      ...spec
    }: Spec<Keyed<Key, S>, R, O, A, C> & Answered<R, O, C> & Taking<S>): Action<C> =>
      make(writing('PATCH', one, `update${name}`), keyed(input), spec),
    /** `DELETE` on a resource. */
    remove: <R, O extends z.ZodType, S extends Shape = NoFields, C = unknown>({
      input,
      ...spec
    }: Spec<Keyed<Key, S>, R, O, A, C> & MayAnswer<R, O, C> & Partial<Taking<S>>): Action<C> =>
      make(writing('DELETE', one, `delete${name}`), keyed(input), spec),
    /** `POST` of an operation on a resource: `act('rotate-secret', …)`. */
    act: <R, O extends z.ZodType, S extends Shape = NoFields, C = unknown>(
      what: string,
      { input, ...spec }: Spec<Keyed<Key, S>, R, O, A, C> & MayAnswer<R, O, C> & Partial<Taking<S>>,
    ): Action<C> => make(writing('POST', `${one}/${what}`, verb(what, name)), keyed(input), spec),
  }
}

/** Creates an action; the types of input and result are checked at the declaration. */
function customAction<C>(
  facts: Pick<ResourceFacts<string, Access>, 'name' | 'tags' | 'feature' | 'scope' | 'graphql'> & { readonly plural: string },
  custom: Custom,
  input: z.ZodType,
  declared: object,
): Action<C> {
  const { method, path: route, status, ...rest } = custom
  const { http, graphql = {}, feature = facts.feature, ...spec } = declared as Spec<z.ZodType, unknown, z.ZodType, Access, C>
  const noun = typeof facts.graphql === 'object' ? facts.graphql : { one: facts.name, many: facts.plural }
  const field = customField(spec.id ?? rest.id, facts, noun)
  const root = method === 'GET' ? 'query' : 'mutation'
  return action({
    tags: facts.tags,
    ...rest,
    ...(facts.scope && { scope: facts.scope }),
    ...spec,
    ...(feature && feature !== 'always' && { feature }),
    input,
    http: { method, path: route, ...(status && { status }), ...http },
    ...(facts.graphql && graphql !== 'none' && { graphql: { field, root, ...graphql } }),
  })
}

interface Custom {
  readonly method: Method
  readonly path: string
  readonly id: string
  readonly scope: Access
  readonly errors: readonly RefusalCode[]
  readonly status?: number
}

const reading = (method: Method, path: string, actionId: string): Custom => ({
  method,
  path,
  id: actionId,
  scope: 'api:read',
  errors: ['not_found'],
})
const writing = (method: Method, path: string, actionId: string): Custom => ({
  method,
  path,
  id: actionId,
  scope: 'api:admin',
  errors: ['not_found', 'conflict'],
})

/** Adds fields before the fields of an input, and keeps its checks and metadata. */
function withFields(fields: Shape, input: z.ZodObject = z.strictObject({})): z.ZodObject {
  for (const name of Object.keys(fields))
    assert(!(name in input.def.shape), `${name} identifies the resource and must not be a field of its input`)
  const both = input.clone({ ...input.def, shape: { ...fields, ...input.def.shape } })
  const meta = input.meta()
  return meta ? both.meta(meta) : both
}

const pascal = (text: string): string => text.replaceAll(/(?:^|[-/])([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns the id of an operation: `rotate-secret` of a Webhook is `rotateWebhookSecret`. */
function verb(what: string, name: string): string {
  const [first = '', ...rest] = what.split('-')
  return `${first}${name}${pascal(rest.join('-'))}`
}

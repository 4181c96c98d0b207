/**
 * Converts between the wire and the core, driven by zod schemas: snake_case to camelCase, RFC 3339 to milliseconds since the epoch. A field
 * needs no code if the core has a field with the matching name and type. A field without such a match is a compile error.
 */
import * as z from 'zod'
import { toWireTime } from './time.ts'

/** Converts a name in a type: `created_at` to `createdAt`. */
export type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail> & string>}` : Name

/** Converts a name at run time. */
export const camel = (name: string): string => name.replaceAll(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())

type Shape = Readonly<Record<string, z.core.$ZodType>>
type AnyObject<S extends Shape> = z.ZodObject<S, z.core.$ZodObjectConfig>

/** The core's form of a validated value: names in camelCase, and every field present, with undefined for an omitted field. */
export type Decoded<Z> =
  Z extends AnyObject<infer S>
    ? { readonly [Name in keyof S as Camel<Name>]: Decoded<S[Name]> }
    : Z extends z.ZodOptional<infer Inner>
      ? Decoded<Inner> | undefined
      : Z extends z.ZodNullable<infer Inner>
        ? Decoded<Inner> | null
        : Z extends z.ZodDefault<infer Inner> | z.ZodPrefault<infer Inner>
          ? Decoded<Inner>
          : Z extends z.ZodArray<infer Inner>
            ? readonly Decoded<Inner>[]
            : z.output<Z>

/** Whether a value of the core can be encoded by the schema alone, without field code. */
type Fits<Value, Z> =
  Z extends z.ZodNullable<infer Inner>
    ? Fits<NonNullable<Value>, Inner>
    : Z extends z.ZodOptional<infer Inner>
      ? Fits<Exclude<Value, undefined>, Inner>
      : Z extends z.ZodISODateTime
        ? [Value] extends [number]
          ? true
          : false
        : Z extends z.ZodArray<infer Inner>
          ? [Value] extends [readonly (infer Element)[]]
            ? Fits<Element, Inner>
            : false
          : Z extends AnyObject<infer S>
            ? [Unfitting<Value, S>] extends [never]
              ? true
              : false
            : [Value] extends [Written<Z>]
              ? true
              : false

/** The fields of a shape that need code: the core has no field with the matching name, or has it with another type. */
type Unfitting<Source, S extends Shape> = {
  [Name in keyof S & string]: Camel<Name> extends keyof Source ? (Fits<Source[Camel<Name>], S[Name]> extends true ? never : Name) : Name
}[keyof S & string]

/** The encoded value. The encoder may keep readonly lists. */
export type Written<Z> = Unchanging<z.input<Z>>
type Unchanging<T> = T extends readonly (infer Element)[]
  ? readonly Unchanging<Element>[]
  : T extends object
    ? { readonly [Name in keyof T]: Unchanging<T[Name]> }
    : T

/** Functions for fields that need code, and optional overrides for the other fields. */
type FieldCode<Source, S extends Shape, C> = { readonly [Name in Unfitting<Source, S>]: (source: Source, core: C) => Written<S[Name]> } & {
  readonly [Name in Exclude<keyof S & string, Unfitting<Source, S>>]?: (source: Source, core: C) => Written<S[Name]>
}

/** Encoders that do not use the core are called without it. */
type CoreArgument<C> = unknown extends C ? [core?: C] : [core: C]

/**
 * Encodes values of the core by a schema, with fields in the order of the schema. `C` is the part of the core that the encoder uses, such
 * as a clock.
 */
export interface Encoder<Source, Z extends z.ZodType = z.ZodType, C = unknown> {
  readonly schema: Z
  readonly encode: (source: Source, ...core: CoreArgument<C>) => Written<Z>
  /** Returns an encoder of another type that is first converted to the source type. */
  via<Outer>(toSource: (outer: Outer) => Source): Encoder<Outer, Z, C>
}

/** Creates an encoder from a function, for values other than objects and for shapes that differ much from their source. */
export const encoderOf = <Source, Z extends z.ZodType, C = unknown>(
  schema: Z,
  encode: Encoder<Source, Z, C>['encode'],
): Encoder<Source, Z, C> => ({
  schema,
  encode,
  via: (toSource) => encoderOf(schema, (outer, ...core: CoreArgument<C>) => encode(toSource(outer), ...core)),
})

/**
 * `encoder(shape).from<Source>({…})` creates an encoder of an object. Functions are required only for fields that do not match the source
 * by name and type; the compiler names the missing functions. For undefined in the core, the encoder writes null to a nullable field and
 * omits an optional field.
 */
export const encoder = <S extends Shape>(schema: AnyObject<S>) => ({
  from: <Source, C = unknown>(
    ...[code]: [Unfitting<Source, S>] extends [never] ? [code?: FieldCode<Source, S, C>] : [code: FieldCode<Source, S, C>]
  ): Encoder<Source, AnyObject<S>, C> => {
    const write = objectWriter(schema.def.shape, code)
    return encoderOf<Source, AnyObject<S>, C>(schema, write as Encoder<Source, AnyObject<S>, C>['encode'])
  },
})

/** Returns a function that converts validated values to the form of the core. */
export function decoder<Z extends z.core.$ZodType>(schema: Z): (checked: z.output<Z>) => Decoded<Z> {
  return (readerOf(schema) ?? ((value) => value)) as (checked: z.output<Z>) => Decoded<Z>
}

type Write = (value: unknown) => unknown
type WriteWith = (value: unknown, core?: unknown) => unknown
type Fields = Readonly<Record<string, unknown>>

function objectWriter(shape: Shape, code: Readonly<Record<string, WriteWith>> = {}): WriteWith {
  const fields = Object.entries(shape).map(([name, schema]) => {
    const own = code[name]
    return { name, source: camel(name), own, write: own ? undefined : writerOf(schema) }
  })
  return (source, core) => {
    const written: Record<string, unknown> = {}
    for (const { name, source: from, own, write } of fields) {
      const value = own ? own(source, core) : (source as Fields)[from]
      const wire = write ? write(value) : value
      if (wire !== undefined) written[name] = wire
    }
    return written
  }
}

/** Returns undefined if a value is written unchanged. */
function writerOf(schema: z.core.$ZodType): Write | undefined {
  if (schema instanceof z.ZodNullable) {
    const write = writerOf(schema.def.innerType) ?? ((value) => value)
    return (value) => (value === null || value === undefined ? null : write(value))
  }
  if (schema instanceof z.ZodOptional) return unlessUndefined(writerOf(schema.def.innerType))
  if (schema instanceof z.ZodISODateTime) return (value) => toWireTime(value as number)
  if (schema instanceof z.ZodArray) return eachBy(writerOf(schema.def.element))
  if (schema instanceof z.ZodObject) return objectWriter(schema.def.shape)
  return undefined
}

/** Returns undefined if the core uses a value unchanged. */
function readerOf(schema: z.core.$ZodType): Write | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    return unlessUndefined(readerOf(schema.def.innerType))
  if (schema instanceof z.ZodArray) return eachBy(readerOf(schema.def.element))
  if (!(schema instanceof z.ZodObject)) return undefined
  const fields = Object.entries(schema.def.shape as Shape).map(([name, field]) => ({ name, to: camel(name), read: readerOf(field) }))
  return (checked) => {
    const decoded: Record<string, unknown> = {}
    for (const { name, to, read } of fields) {
      const value = (checked as Fields)[name]
      decoded[to] = read ? read(value) : value
    }
    return decoded
  }
}

const unlessUndefined = (act: Write | undefined): Write | undefined =>
  act && ((value) => (value === undefined || value === null ? value : act(value)))
const eachBy = (act: Write | undefined): Write | undefined => act && ((values) => (values as readonly unknown[]).map(act))

/** Lists on the wire: `?limit=&cursor=` in the request, `{data, next_cursor}` in the response. */
import * as z from 'zod'
import type { Page } from '#store/database.ts'
import { encoderOf, type Encoder } from './codec.ts'
import { withNumberForm } from './text-form.ts'

const limitDefault = 50
const maxLimit = 200

const limit = withNumberForm(
  z
    .int()
    .min(1)
    .max(maxLimit)
    .default(limitDefault)
    .meta({ description: `At most ${maxLimit} entries. Defaults to ${limitDefault}.` }),
  /^[1-9]\d{0,2}$/,
  `must be a whole number from 1 to ${maxLimit}`,
)

const cursor = z
  .string()
  .max(1024)
  .regex(/^[A-Za-z0-9_-]+$/, 'must be the unchanged next_cursor of the previous page')
  .optional()
  .meta({ description: 'The `next_cursor` of the previous page, an opaque value.' })

/** The `project` query field of lists of project resources. */
export const project = z
  .string()
  .min(1)
  .max(64)
  .optional()
  .meta({ description: 'Id of a project. Defaults to the project that the key is bound to, or else to the whole organization.' })

/** The paging fields in the input of an action. */
export const pageFields = { limit, cursor }

/** The response of a list: the entries of a page, and the cursor of the next page, or null on the last page. */
export function pageOf<T extends z.ZodType>(entry: T) {
  return z.object({ data: z.array(entry), next_cursor: z.string().nullable() })
}

/** Encodes a page of entries. */
export const pageEncoder = <Row, O extends z.ZodType, C>(item: Encoder<Row, O, C>) =>
  encoderOf<Page<Row>, ReturnType<typeof pageOf<O>>, C>(pageOf(item.schema), ({ rows, nextCursor }, ...core) => ({
    data: rows.map((row) => item.encode(row, ...core)),
    next_cursor: nextCursor ?? null,
  }))

/** Encodes a list without pages. */
export const listEncoder = <Row, O extends z.ZodType>(item: Encoder<Row, O>) =>
  encoderOf(z.object({ data: z.array(item.schema) }), (rows: readonly Row[]) => ({ data: rows.map((row) => item.encode(row)) }))

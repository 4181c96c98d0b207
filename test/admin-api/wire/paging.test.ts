import test from '#test'
import * as z from 'zod'
import { check } from '../../../admin-api/bodies/validation.ts'
import { pageFields, pageOf, project } from '../../../admin-api/wire/fields/paging.ts'
import { textFormOf } from '../../../admin-api/wire/fields/text-form.ts'

const query = z.strictObject({ ...pageFields, limit: textFormOf(pageFields.limit), project })
const read = (value: object) => check(query, value, 'query')

test('page fields have defaults, and convert the limit to a number', (t) => {
  t.deepEqual(read({}), { limit: 50 })
  t.deepEqual(read({ limit: '200', cursor: 'aZ09-_', project: 'p_1' }), { limit: 200, cursor: 'aZ09-_', project: 'p_1' })
})

test('page fields refuse invalid limits and cursors', (t) => {
  for (const limit of ['0', '-1', '1e2', '2.5', '', 'all', '1000']) {
    t.throws(() => read({ limit }), { message: 'limit: must be a whole number from 1 to 200' })
  }
  t.throws(() => read({ limit: '201' }), { message: 'limit: at most 200' })
  t.throws(() => read({ cursor: 'a b' }), { message: 'cursor: must be the unchanged next_cursor of the previous page' })
  t.throws(() => read({ cursor: 'a'.repeat(1025) }), { message: 'cursor: at most 1024 characters' })
})

test('pageOf() needs the entries and the next cursor or null', (t) => {
  const page = pageOf(z.string())
  t.true(page.safeParse({ data: ['a'], next_cursor: null }).success)
  t.false(page.safeParse({ data: ['a'] }).success)
})

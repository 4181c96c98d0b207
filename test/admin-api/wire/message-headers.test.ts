import test from '#test'
import { check } from '../../../admin-api/bodies/validation.ts'
import { messageHeaders } from '../../../admin-api/wire/sending/message-headers.ts'
import { Refusal } from '#core/refusals.ts'
import { growsLinearly } from '../../support/measure/growth.ts'

const names = (count: number): Record<string, string> => Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, 'v']))

function problemOf(given: object): string {
  try {
    check(messageHeaders, given, 'body')
    return ''
  } catch (error) {
    return error instanceof Refusal ? error.message : String(error)
  }
}

test('messageHeaders accept fifty fields and refuse more with one error', (t) => {
  t.is(problemOf(names(50)), '')
  t.is(problemOf({ ...names(50), Bcc: 'x', 'x-0': 'v' }), 'body: at most 50 fields')
})

test('messageHeaders name a duplicate field, in any case of letters', (t) => {
  t.is(problemOf({ 'X-A': '1', 'X-B': '1', 'x-a': '2' }), 'x-a: appears twice, with different case')
})

test('messageHeaders check no field if there are too many', (t) => {
  t.is(problemOf(Object.fromEntries(Object.entries(names(51)).map(([name]) => [name, 1]))), 'body: at most 50 fields')
  t.is(problemOf([]), 'body: expected an object, got a list')
})

test('messageHeaders are checked in linear time', (t) => {
  t.true(growsLinearly((size) => void problemOf(names(size)), 10_000))
})

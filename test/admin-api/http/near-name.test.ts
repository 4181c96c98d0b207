import test from '#test'
import { nearName } from '../../../admin-api/bodies/near-name.ts'

const known = ['from', 'to', 'cc', 'subject', 'reply_to', 'destination_id', 'html', 'text']

test('nearName() ignores the spelling style', (t) => {
  t.is(nearName('replyTo', known), 'reply_to')
  t.is(nearName('destination-id', known), 'destination_id')
  t.is(nearName('Subject', known), 'subject')
})

test('nearName() finds a name within few edits; a swap counts as one', (t) => {
  t.is(nearName('subejct', known), 'subject')
  t.is(nearName('htlm', known), 'html')
  t.is(nearName('form', known), 'from')
  t.is(nearName('destnation_ids', known), 'destination_id')
})

test('nearName() returns undefined if no name is similar', (t) => {
  t.is(nearName('template', known), undefined)
  t.is(nearName('bcdef', known), undefined)
  t.is(nearName('x'.repeat(10_000), known), undefined)
  t.is(nearName('anything', []), undefined)
})

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test from '#test'
import { parseDialog, playDialog } from './dialog.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const files = readdirSync(folder).filter((name) => name.endsWith('.smtp'))

for (const file of files) {
  test(`SubmissionServer dialog ${file.replace('.smtp', '')}`, (t) => playDialog(t, readFileSync(`${folder}/${file}`, 'utf8')))
}

test('parseDialog(): refuses a line without a mark', (t) => {
  t.deepEqual(parseDialog('# x\n-> NOOP\n<- 250'), [
    { number: 2, mark: '->', text: 'NOOP' },
    { number: 3, mark: '<-', text: '250' },
  ])
  t.throws(() => parseDialog('NOOP'), { message: 'line 1 has no mark: NOOP' })
})

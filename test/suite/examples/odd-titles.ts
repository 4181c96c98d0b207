/** Failed ledgers with titles that are hard to find in the lines of AVA. */
import test from '#test'

const titles = ['a mail', 'a mail: two words', ' spaces  and\nlines ', '\u001b[31mred\u001b[39m', 'a \0 and › more', 'x'.repeat(3000)]
for (const title of titles) test(title, (t) => t.fail(`ledger: ${title.length} characters`))

/** Values in a template never become markup. */
import test from '#test'
import { html } from '../../../../admin-api/pages/layout/html.ts'
import { doneText } from '../../../../admin-api/pages/layout/page-texts.ts'

const hostile = `"><script>alert('x')</script>&amp;<img src=x onerror="y">`

test('html: escapes text and attributes', (t) => {
  t.is(html`<p title="${hostile}">${hostile}</p>`.toString(), `<p title="${escaped}">${escaped}</p>`)
})
const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;&lt;img src=x onerror=&quot;y&quot;&gt;'

test('html: inserts pieces unescaped, joins lists, and omits missing values', (t) => {
  const inner = html`<b>${'<'}</b>`
  t.is(
    html`${inner}${[inner, 'a', 1]}${undefined}${null}${false}${0}`.toString(),
    '<b>&lt;</b><b>&lt;</b>a10<b></b>'.replace('<b></b>', ''),
  )
})

test('html: escapes objects that imitate markup', (t) => {
  const forged = { toString: () => '<script>' }
  t.is(html`${forged as never}`.toString(), '')
  t.is(html`${[hostile]}`.toString(), escaped)
})

test('doneText(): returns only known notices', (t) => {
  t.is(doneText('role'), 'The role is changed.')
  for (const code of [undefined, 'nonsense', 'toString', '__proto__']) t.is(doneText(code), undefined)
})

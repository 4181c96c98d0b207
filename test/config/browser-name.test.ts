/** Names of browsers for lists of passkeys and sessions. */
import test from '#test'
import { browserTitle } from '#config/texts/browser-name.ts'

test('browserTitle(): returns plain names of browsers', (t) => {
  t.is(browserTitle('Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0'), 'Edge on Windows')
  t.is(
    browserTitle('Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Mobile/15E148 Safari/604.1'),
    'Safari on iPhone',
  )
  t.is(browserTitle('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'), 'Firefox on Linux')
  t.is(browserTitle('<script>'), 'Another browser')
})

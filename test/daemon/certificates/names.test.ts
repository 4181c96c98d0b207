/** Names in ordered certificates. */
import test from '#test'
import { ConfigInvalid, loadConfig } from '#config/settings/load.ts'
import { acmeNames } from '../../../daemon/certificates/acme/names.ts'

const namesFor = (env: Record<string, string>) =>
  acmeNames(loadConfig({ env: { POSTERN_SMTP_HOST: 'build-7', ...env }, readFile: () => '' }))

test('acmeNames(): returns each public name once, or the configured names', (t) => {
  const urls = {
    POSTERN_BASE_URL: 'https://mail.example.org',
    POSTERN_FORMS_URL: 'https://forms.example.org:8443',
    POSTERN_MCP_URL: 'https://10.0.0.1/mcp',
  }
  t.deepEqual(namesFor({ ...urls, POSTERN_SMTP_HOST: 'mail.example.org' }), ['mail.example.org', 'forms.example.org'])
  t.deepEqual(namesFor({ ...urls, POSTERN_ACME_NAMES: 'MX.example.org,mx.example.org' }), ['mx.example.org'])
  for (const host of ['build-7', 'mail.local', 'mail.internal', 'localhost'])
    t.throws(() => namesFor({ POSTERN_SMTP_HOST: host, POSTERN_BASE_URL: 'http://127.0.0.1:8080' }), { instanceOf: ConfigInvalid }, host)
})

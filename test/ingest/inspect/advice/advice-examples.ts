/** A mail for each sentence of advice whose check gives that advice. The type requires an entry for every new sentence. */
import type { CheckId } from '#ingest/inspect/checks/verdict.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { byMailauth, ed25519 } from '../dkim-variants.ts'
import { forwarded } from '../forwarded.ts'
import { alternative, keyRecord, newsletter, now, rsaKey, signed, type Changes, type Header, type letter } from '../golden.ts'

export type FixCode = Extract<keyof ConfigCatalogs['checks']['sentences'], `fix_${string}`>
type Example = readonly [check: CheckId, changes: Changes | Promise<Changes>, mail?: typeof letter]

const text = 'The blue teapot that you ordered is on its way to you and will arrive on Monday morning.'
const at = (zone: Changes['zone']): Changes => ({ zone: zone ?? {} })
const spf = (...records: readonly string[]): Changes => at({ 'shop.example.com TXT': records.map((record) => [record]) })
const dmarc = (...records: readonly string[]): Changes => at({ '_dmarc.example.com TXT': records.map((record) => [record]) })
const mx = (exchange: string, more: Changes['zone'] = {}): Changes => at({ 'shop.example.com MX': [{ exchange, priority: 10 }], ...more })
const header = (fields: Header): Changes => ({ header: fields })
const dated = (date: string): Changes => header({ Date: date })
const body = (plain: string, markup: string): Changes => ({ body: alternative(plain, markup) })
const html = (markup: string): Changes => body(text, `<p>${text}</p>${markup}`)
const link = (href: string, words = 'Shop'): Changes => html(`<a href="${href}">${words}</a>`)
const only = (type: string, content: string, more: Header = {}): Changes => ({ header: { 'Content-Type': type, ...more }, body: content })
const raw = (from: string, to: string): Changes => ({ sign: () => '', after: (message) => message.replace(from, to) })
const withKey = (bits: number, tags = ''): Changes => ({
  sign: (message) => signed(message, { bits }),
  ...at({ 'k1._domainkey.example.com TXT': [[keyRecord(rsaKey(bits).publicKey, tags)]] }),
})
const long = Array.from({ length: 30 }, (_, index) => `ip4:198.51.100.${index}`).join(' ')
const nine = Array.from({ length: 9 }, (_, index) => `i${index}.test`)
const unsigned: Changes = { sign: () => '' }
const outsider: Changes = { ...unsigned, session: { mailFrom: 'x@other.test' } }
const noDane = { '_25._tcp.mx.example.com TLSA': undefined }
const word = (subject: string): Changes => header({ Subject: `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=` })
const file =
  '--b1\r\nContent-Type: text/plain\r\n\r\nHi\r\n--b1\r\nContent-Type: application/octet-stream; name="a.exe"\r\n\r\nx\r\n--b1--\r\n'
const unsubscribe = (fields: Header): Example => ['list_unsubscribe', header(fields), newsletter]

/** A mail whose body a forwarder changed after the sender had signed it. */
const withBrokenSignature = (changes: Changes): Changes => ({
  ...changes,
  sign: async (message) => `${(await changes.sign?.(message)) ?? ''}${await signed(message.replace('teapot is', 'kettle is'))}`,
})

const authentication = {
  fix_spf_extend: ['spf', spf('v=spf1 ip4:192.0.2.1 ~all')],
  fix_spf_insert: ['spf', spf(`v=spf1 ${long} -all`)],
  fix_spf_publish: ['spf', at({ 'shop.example.com TXT': undefined })],
  fix_spf_public: ['spf', { ...spf('v=spf1 mx -all'), session: { clientIp: '127.0.0.1' } }],
  fix_spf_join: ['spf', spf('v=spf1 ip4:198.51.100.9 -all', 'v=spf1 mx ~all')],
  fix_spf_one: ['spf', spf(`v=spf1 ${long} -all`, `v=spf1 mx ~all`)],
  fix_spf_correct: ['spf', spf('v=spf1 ipfour:1 -all')],
  fix_spf_close: ['spf', spf('v=spf1 mx +all')],
  fix_spf_end: ['spf', spf(`v=spf1 ${long} +all`)],
  fix_spf_includes: [
    'spf',
    at({
      'shop.example.com TXT': [[`v=spf1 ${nine.map((name) => `include:${name}`).join(' ')} ip4:203.0.113.25 -all`]],
      ...Object.fromEntries(nine.map((name) => [`${name} TXT`, [['v=spf1 ip4:192.0.2.1 -all']]])),
    }),
  ],
  fix_foreign_domain: [
    'spf',
    { session: { mailFrom: 'b1@bounce.provider.test' }, ...at({ 'bounce.provider.test TXT': [['v=spf1 -all']] }) },
  ],
  fix_dkim_sign: ['dkim', unsigned],
  fix_dkim_new_key: ['dkim', withKey(768)],
  fix_dkim_sha256: ['dkim', { sign: byMailauth({ algorithm: 'rsa-sha1' }) }],
  fix_dkim_publish: ['dkim', at({ 'k1._domainkey.example.com TXT': undefined })],
  fix_dkim_unchanged: ['dkim', { after: (message) => message.replace('teapot is', 'kettle is') }],
  fix_dkim_selector: ['dkim', at({ 'k1._domainkey.example.com TXT': [[keyRecord(rsaKey(1024).publicKey)]] })],
  fix_dkim_key: ['dkim', withKey(1024)],
  fix_dkim_rsa_too: ['dkim', ed25519],
  fix_dkim_whole: ['dkim', { sign: byMailauth({ maxBodyLength: 20 }) }],
  fix_dkim_testing: ['dkim', withKey(2048, ' t=y;')],
  fix_dkim_expiry: ['dkim', { sign: byMailauth({ expires: new Date(now + 3_600_000) }) }],
  fix_dkim_oversign: ['dkim', { sign: byMailauth() }],
  fix_one_from: ['dmarc', { ...unsigned, ...header({ From: null }) }],
  fix_from_own_domain: ['dkim', { ...unsigned, ...header({ From: 'Shop <shop@gmail.com>' }) }],
  fix_align: ['dmarc', outsider],
  fix_align_sign: ['dmarc', unsigned],
  fix_align_repair: ['dmarc', { session: { mailFrom: 'x@other.test' }, after: (message) => message.replace('teapot is', 'kettle is') }],
  fix_forward_direct: ['dmarc', forwarded(['google.com', 'pass']).then(withBrokenSignature)],
  fix_dmarc_begin: ['dmarc', at({ '_dmarc.example.com TXT': undefined })],
  fix_dmarc_one: ['dmarc_policy', dmarc('v=DMARC1; p=reject', 'v=DMARC1; p=none')],
  fix_dmarc_form: ['dmarc_policy', dmarc('v=DMARC1; rua=mailto:d@example.com')],
  fix_policy_stricter: ['dmarc_policy', dmarc('v=DMARC1; p=none; rua=mailto:d@example.com')],
  fix_policy_reports: ['dmarc_policy', dmarc('v=DMARC1; p=reject')],
  fix_policy_percent: ['dmarc_policy', dmarc('v=DMARC1; p=reject; pct=50; rua=mailto:d@example.com')],
  fix_policy_testing: ['dmarc_policy', dmarc('v=DMARC1; p=reject; t=y; rua=mailto:d@example.com')],
  fix_policy_subdomains: ['dmarc_policy', dmarc('v=DMARC1; p=reject; sp=none; rua=mailto:d@example.com')],
  fix_policy_reporter: ['dmarc_policy', dmarc('v=DMARC1; p=reject; rua=mailto:d@reports.test')],
} satisfies Partial<Record<FixCode, Example>>

const network = {
  fix_ptr: ['fcrdns', at({ '25.113.0.203.in-addr.arpa PTR': undefined })],
  fix_ptr_own: [
    'fcrdns',
    at({ '25.113.0.203.in-addr.arpa PTR': ['ip-203-0-113-25.example.net'], 'ip-203-0-113-25.example.net A': ['203.0.113.25'] }),
  ],
  fix_helo: ['helo', { session: { helo: 'localhost' } }],
  fix_tls: ['tls', { session: { tls: null } }],
  fix_lists: ['ip_blocklist', at({ '25.113.0.203.major.ip.test A': ['127.0.0.2'] })],
  fix_mx: ['sender_domain', at({ 'shop.example.com MX': 'ENODATA', 'shop.example.com A': ['192.0.2.1'] })],
  fix_mx_null: ['sender_domain', mx('')],
  fix_mx_no_domain: ['sender_domain', at({ 'shop.example.com MX': undefined })],
  fix_mx_hosts: ['sender_domain', mx('gone.example.com')],
  fix_mx_alias: ['sender_domain', mx('al.example.com', { 'al.example.com A': ['192.0.2.1'], 'al.example.com CNAME': ['mx.example.com'] })],
  fix_hardening: ['domain_hardening', at(noDane)],
  fix_hardening_enforce: [
    'domain_hardening',
    {
      ...at({ ...noDane, '_mta-sts.example.com TXT': [['v=STSv1; id=1']] }),
      fetchPolicy: () => Promise.resolve('version: STSv1\nmode: testing\nmx: mx.example.com\nmax_age: 86400\n'),
    },
  ],
  fix_hardening_reports: ['domain_hardening', at({ '_smtp._tls.example.com TXT': undefined })],
} satisfies Partial<Record<FixCode, Example>>

const headers = {
  fix_header_once: ['headers', header({ Subject: ['One', 'Two'] })],
  fix_header_date: ['headers', header({ Date: null })],
  fix_header_date_form: ['headers', dated('yesterday')],
  fix_header_fold: ['headers', header({ 'X-Long': 'x'.repeat(1100) })],
  fix_header_lines: ['headers', raw('Subject: Your order', 'Subject: Your\n order')],
  fix_header_encode: ['headers', header({ Subject: 'Grüezi mitenand' })],
  fix_header_id: ['headers', header({ 'Message-ID': null })],
  fix_header_clock: ['headers', dated('Sat, 21 Nov 2026 14:00:00 +0000')],
  fix_header_zone: ['headers', dated('Sat, 21 Nov 2026 12:00:00 GMT')],
  fix_header_many_to: ['headers', header({ To: Array.from({ length: 51 }, (_, index) => `a${index}@b.test`).join(',\r\n ') })],
  fix_header_to: ['headers', header({ To: null })],
  fix_header_mime: ['headers', header({ 'MIME-Version': null })],
  fix_header_encoded_once: ['headers', header({ Subject: '=?utf-8?Q?=3D=3Futf-8=3FQ=3FHallo=3F=3D?=' })],
  fix_header_large: ['headers', header({ 'X-Long': Array.from({ length: 80 }, () => 'x'.repeat(900)).join('\r\n ') })],
  fix_header_bcc: ['headers', header({ Bcc: 'c@d.test' })],
  fix_header_spam_flag: ['headers', header({ 'X-Spam-Flag': 'YES' })],
  fix_subject_reply: ['subject_and_sender', header({ Subject: 'Re: your invoice' })],
  fix_subject_empty: ['subject_and_sender', header({ Subject: '' })],
  fix_subject_long: ['subject_and_sender', header({ Subject: 'word '.repeat(32) })],
  fix_subject_capitals: ['subject_and_sender', header({ Subject: 'BUY THIS TEAPOT NOW' })],
  fix_subject_shouts: ['subject_and_sender', header({ Subject: 'Your teapot is here!!' })],
  fix_subject_invisible: ['subject_and_sender', word('in\u200bvoice')],
  fix_subject_scripts: ['subject_and_sender', word('Your p\u0430ypal bill')],
  fix_from_name_only: ['subject_and_sender', header({ From: '"boss@bank.test" <orders@example.com>' })],
  fix_from_lookalike: ['subject_and_sender', header({ From: 'Shop <news@xn--80ak6aa92e.com>' })],
  fix_from_name: ['subject_and_sender', header({ From: 'orders@example.com' })],
  fix_from_reply_to: ['subject_and_sender', header({ From: 'Shop <noreply@example.com>' })],
  fix_from_own_replies: ['subject_and_sender', header({ 'Reply-To': 'x@other.test' })],
  fix_from_letters: ['subject_and_sender', header({ From: '=?utf-8?Q?Shop_=E2=9C=94?= <orders@example.com>' })],
  fix_from_scripts: ['subject_and_sender', header({ From: '=?utf-8?Q?P=D0=B0ypal?= <orders@example.com>' })],
} satisfies Partial<Record<FixCode, Example>>

const content = {
  fix_mime_lines: ['mime_structure', raw('\r\n--b1--', '\n\r\n--b1--')],
  fix_mime_encoding: ['mime_structure', only('text/plain', '?!\r\n', { 'Content-Transfer-Encoding': 'base64' })],
  fix_mime_library: ['mime_structure', { body: alternative(text, `<p>${text}</p>`).replace('--b1--', '') }],
  fix_mime_long_line: ['mime_structure', body(text, `<p>${text}</p>${' '.repeat(1100)}`)],
  fix_mime_eight_bit: ['mime_structure', only('text/plain; charset=utf-8', 'Grüezi\r\n', { 'Content-Transfer-Encoding': '7bit' })],
  fix_mime_charset: ['mime_structure', only('text/plain', 'Grüezi\r\n', { 'Content-Transfer-Encoding': '8bit' })],
  fix_mime_text: ['mime_structure', only('text/html; charset=utf-8', `<p>${text}</p>\r\n`)],
  fix_mime_same_text: ['mime_structure', body('Your program cannot show this mail.', `<p>${text}</p>`)],
  fix_mime_no_words: ['mime_structure', only('text/plain', '\r\n')],
  fix_mime_html: ['mime_structure', html('<!-- ten of these words are for nothing -->\r\n'.repeat(2600))],
  fix_mime_large: ['mime_structure', { ...unsigned, ...only('text/plain', `${'x'.repeat(70)}\r\n`.repeat(150_000)) }],
  fix_file: ['mime_structure', only('multipart/mixed; boundary="b1"', file)],
  fix_unsubscribe: unsubscribe({ 'List-Unsubscribe': null }),
  fix_unsubscribe_https: unsubscribe({ 'List-Unsubscribe': '<mailto:leave@example.com>' }),
  fix_unsubscribe_post: unsubscribe({ 'List-Unsubscribe-Post': null }),
  fix_unsubscribe_sign: [
    'list_unsubscribe',
    { sign: (message) => signed(message.replaceAll(/List-Unsubscribe[^\r]*\r\n/g, '')) },
    newsletter,
  ],
  fix_html_active: ['html_content', html('<script>1</script>')],
  fix_html_alt: ['html_content', html('<img src="https://example.com/a.png">')],
  fix_html_words: ['html_content', html('<img src="https://example.com/a.png" alt="Pot">')],
  fix_html_hidden: ['html_content', html(`<div style="display:none">${'hidden words '.repeat(30)}</div>`)],
  fix_html_tiny: ['html_content', html('<span style="font-size:1px">so small</span>')],
  fix_html_camouflaged: ['html_content', html('<span style="color:#FFF">unseen</span>')],
  fix_link_name: ['links', link('https://192.0.2.1/')],
  fix_link_target: ['links', link('https://bit.ly/x')],
  fix_link_scripts: ['links', link('https://xn--80ak6aa92e.com/')],
  fix_link_text: ['links', link('https://evil.test/', 'www.bank.com')],
  fix_links_https: ['links', link('http://www.example.com/')],
  fix_links_hosts: ['links', html(Array.from({ length: 31 }, (_, index) => `<a href="https://h${index}.example.com/">Shop</a>`).join(''))],
  fix_links_login: ['links', link('https://ada:pot@www.example.com/')],
  fix_links_unsubscribe: ['links', link('https://www.example.com/'), newsletter],
} satisfies Partial<Record<FixCode, Example>>

export const adviceExamples: Readonly<Record<FixCode, Example>> = { ...authentication, ...network, ...headers, ...content }

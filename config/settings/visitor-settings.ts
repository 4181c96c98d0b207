/** Settings for visitors of web pages: captchas, scans of their files, forms and websites. */
import { oneOf, optionalWritten, section, whole, written } from './fields.ts'
import { endpoint, hostName, service, verifyUrl, webPage, webPageOrMail } from './formats.ts'

const verifyUrlLimit = 'an https address, or an http address in a private network'

export const captcha = section({
  turnstileVerifyUrl: written(
    { description: 'Address at which tokens of Turnstile are verified.', limit: verifyUrlLimit },
    verifyUrl,
    'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  ),
  hcaptchaVerifyUrl: written(
    { description: 'Address at which tokens of hCaptcha are verified.', limit: verifyUrlLimit },
    verifyUrl,
    'https://api.hcaptcha.com/siteverify',
  ),
})

export const forms = section({
  privacyUrl: optionalWritten(
    {
      description: 'What the service does with the data of visitors; a link below every form. Without it, there is none.',
      limit: 'an https address such as https://www.example.org/privacy',
    },
    webPage,
  ),
  reportUrl: optionalWritten(
    {
      description:
        'Where visitors report a form that is misused; a link below every form, which names the form. Without it, there is none.',
      limit: 'an https address or a mail address such as https://www.example.org/abuse or abuse@example.org',
    },
    webPageOrMail,
  ),
})

export const uploads = section({
  clamd: optionalWritten(
    {
      description: 'Where clamd of ClamAV listens, which scans the files that come by forms. Without it, none are scanned.',
      limit: 'the path of its socket, or its host and port, such as /run/clamav/clamd.ctl or 127.0.0.1:3310',
    },
    service,
  ),
  unscannedDownloads: oneOf(
    'Whether files of forms are given out that no scanner has seen, while there is no uploads.clamd. With a scanner, only what it found clean is.',
    ['refuse', 'allow'],
    'refuse',
  ),
})

export const sites = section({
  listen: optionalWritten(
    {
      description:
        'Address at which websites of tenants are served, in clear text: in production a reverse proxy with TLS stands before it. Without it and sites.domain, no websites are served.',
      limit: 'an IP address (IPv6 in brackets) or localhost, with a port, such as 127.0.0.1:8081 (port 0 picks a free one)',
    },
    endpoint,
  ),
  domain: optionalWritten(
    {
      description:
        'Domain under which each website has a host of its own. Its wildcard DNS record leads to sites.listen, or to the proxy before it. It must be apart from every other address of the service, as tenants decide what their pages do.',
      limit: 'a host name of letters, digits, hyphens and dots',
    },
    hostName,
  ),
  maxConnections: whole('Most connections to websites at a time.', 1, 1_000_000, 10_000),
  maxConnectionsPerAddress: whole(
    'Most connections to websites at a time from one client address (an IPv6 /64 counts as one); behind a trusted proxy (http.trustProxy), most requests. Does not apply to loopback and to trusted proxies themselves.',
    1,
    100_000,
    200,
  ),
})

/** Settings of what visitors of web pages send: who verifies that they are people, what scans their files, and what is below forms. */
import { oneOf, optionalWritten, section, written } from './fields.ts'
import { service, verifyUrl, webPage, webPageOrMail } from './formats.ts'

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

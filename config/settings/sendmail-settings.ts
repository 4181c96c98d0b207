/** Settings of `postern sendmail`, which replaces /usr/sbin/sendmail. */
import { optionalWritten, section } from './fields.ts'
import { absolutePath, emailAddress, origin, sendKey } from './formats.ts'

export const sendmail = section({
  url: optionalWritten(
    {
      description: 'Address of the daemon that accepts mail from postern sendmail. By default, the daemon that runs on the data folder.',
      limit: 'an http or https address without a path, such as https://mail.example.org',
    },
    origin,
  ),
  key: optionalWritten(
    {
      description: 'API key of postern sendmail. By default, the key in the data folder, which only its user can read.',
      limit: 'an API key such as svckey_…',
      secret: true,
    },
    sendKey,
  ),
  spool: optionalWritten(
    {
      description:
        'Folder for mail of postern sendmail while the daemon is unreachable. By default, spool in the data folder if a setting contains the absolute path of the data folder.',
      limit: 'the absolute path of a folder',
    },
    absolutePath,
  ),
  localRecipient: optionalWritten(
    {
      description:
        'Recipient of mail that postern sendmail gets for names without a domain, such as mail of cron to root. By default, these names at the host name of the service.',
      limit: 'a mail address such as admin@example.org',
    },
    emailAddress,
  ),
})

/** Settings of the doctor: its checks, and the recipients of its findings. */
import { listOf, optionalWritten, section } from './fields.ts'
import { address, emailAddress, hostName, timeServer, webhookAddress, webhookSecret } from './formats.ts'

export const doctor = section({
  mailTo: optionalWritten(
    {
      description:
        'Who is sent mail about what is wrong with the service, through systemMail.destination: each finding at most once a day, and once when it is over. Without it, no mail is sent.',
      limit: 'a mail address such as ops@example.org',
    },
    emailAddress,
  ),
  webhookUrl: optionalWritten(
    {
      description: 'Address that is sent the same as JSON, tried again as event webhooks are. Without it, nothing is sent.',
      limit: 'an http or https address such as https://alerts.example.org/postern',
    },
    webhookAddress,
  ),
  webhookSecret: optionalWritten(
    {
      description: 'Secret that signs what is sent to doctor.webhookUrl, as the secret of an event webhook does. Required with it.',
      limit: 'whsec_ and the base64 of 24 to 64 bytes',
      secret: true,
    },
    webhookSecret,
  ),
  addresses: listOf(
    {
      description:
        'IP addresses from which mail leaves, which are looked up in reverse DNS and blocklists. Empty: those of smtpHost, and the single addresses in outbound.spf.',
      limit: 'a list of at most 64 IP addresses, without ranges and names',
    },
    address,
    [],
  ),
  blocklists: listOf(
    {
      description:
        'Blocklists in which these addresses are looked up, as the zones of their DNS. Most answer only to a name server of your own. Empty: none is queried.',
      limit: 'a list of at most 64 host names such as zen.spamhaus.org',
    },
    hostName,
    ['zen.spamhaus.org', 'bl.spamcop.net', 'psbl.surriel.com'],
  ),
  timeServers: listOf(
    {
      description:
        'Time servers (NTP) that postern doctor and postern setup compare the clock with, by one question each. Empty: none is asked.',
      limit: 'a list of at most 64 host names or IP addresses, each with or without a port, such as ntp.example.org or 192.0.2.123:123',
    },
    timeServer,
    ['time.cloudflare.com:123'],
  ),
})

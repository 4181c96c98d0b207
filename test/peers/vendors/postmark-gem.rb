# Sends mail with the gem of Postmark: postmark-gem.rb PORT KEY WHAT. Prints what the gem returned or raised, as JSON.
require 'json'
require 'mail'
require 'postmark'

SETTINGS = { host: '127.0.0.1', port: Integer(ARGV[0]), secure: false }.freeze
KEY = ARGV[1]

def whole(to)
  mail = Mail.new(charset: 'UTF-8') do
    from '"Müller, Shop" <shop@example.ch>'
    to "Ada Lovelace <#{to}>"
    cc 'cc@example.net'
    bcc 'bcc@example.net'
    reply_to 'help@example.ch'
    sender 'office@example.ch'
    subject 'Grüezi – your order 4711'
    message_id '<own.1@mail.example.ch>'
    references '<earlier@mail.example.ch>'
    date Time.at(0)
    text_part { content_type 'text/plain; charset=UTF-8'; body "Thank you, Zoë.\n" }
    html_part { content_type 'text/html; charset=UTF-8'; body '<p>Thank you, Zoë.</p>' }
  end
  mail['X-Order'] = '4711'
  mail.attachments['Rechnung ä.pdf'] = { mime_type: 'application/pdf', content: (0...3000).map { |i| i * 7 % 256 }.pack('C*') }
  mail.attachments.inline['logo.png'] = { mime_type: 'image/png', content: ['89504e470d0a1a0a0102'].pack('H*') }
  mail.tag 'spring sale'
  mail.metadata = { 'order' => '4711' }
  mail.track_opens = true
  mail.track_links = :html_and_text
  mail.message_stream = 'broadcast'
  mail
end

def plain(to)
  Mail.new(from: 'shop@example.ch', to: to, subject: 'Plain', body: 'Grüezi', charset: 'UTF-8', message_id: '<plain@mail.example.ch>')
end

def templated(to)
  mail = plain(to)
  mail.template_alias 'welcome'
  mail.template_model('name' => 'Zoë')
  mail
end

client = Postmark::ApiClient.new(KEY, SETTINGS)
case ARGV[2]
when 'adapter'
  mail = whole('ada@example.net')
  mail.delivery_method Mail::Postmark, SETTINGS.merge(api_token: KEY)
  mail.deliver
  puts JSON.generate(id: mail['Message-ID'].to_s, delivered: mail.delivered?, response: mail.postmark_response)
when 'batch'
  puts JSON.generate(client.deliver_messages([whole('eva@example.net'), plain('bob@example.net')]))
when 'template'
  puts JSON.generate(client.deliver_message_with_template(templated('max@example.net')))
when 'templates'
  puts JSON.generate(client.deliver_messages_with_templates([templated('mia@example.net')]))
when 'refused'
  begin
    mail = plain('ada@example.net')
    mail.from = 'shop@@example.ch'
    client.deliver_message(mail)
  rescue Postmark::Error => e
    puts JSON.generate(error: e.class.name, code: e.error_code, message: e.message)
  end
end

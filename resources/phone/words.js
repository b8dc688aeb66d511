// The page's own texts, in English and Russian.

const TABLE = {
  topics: ["Topics", "Темы"],
  members: ["{n} members", "участников: {n}"],
  newTopic: ["New topic", "Новая тема"],
  newTopicText: ["One topic is one agent session.", "Одна тема — одна сессия агента."],
  create: ["Create", "Создать"],
  cancel: ["Cancel", "Отмена"],
  rename: ["Rename", "Переименовать"],
  closeTopic: ["Close topic", "Закрыть тему"],
  reopenTopic: ["Reopen topic", "Открыть тему"],
  deleteTopic: ["Delete topic", "Удалить тему"],
  deleteTopicText: ["All its messages go with it. Bots are not told.", "Все сообщения исчезнут. Боты об этом не узнают."],
  delete: ["Delete", "Удалить"],
  message: ["Message", "Сообщение"],
  closed: ["This topic is closed", "Тема закрыта"],
  send: ["Send", "Отправить"],
  save: ["Save", "Сохранить"],
  attach: ["Attach files", "Прикрепить файлы"],
  commands: ["Commands", "Команды"],
  back: ["Back to topics", "Назад к темам"],
  more: ["More", "Ещё"],
  reply: ["Reply", "Ответить"],
  copy: ["Copy text", "Копировать"],
  copied: ["Copied", "Скопировано"],
  edit: ["Edit", "Изменить"],
  editing: ["Edit message", "Изменение"],
  edited: ["edited", "изменено"],
  typing: ["{name} is typing", "{name} печатает"],
  inGroup: ["in {title}", "в группе «{title}»"],
  empty: ["No messages here yet", "Пока нет сообщений"],
  emptyText: ["Write a task, as you would to a colleague.", "Напишите задачу, как коллеге."],
  pick: ["Choose a topic to start", "Выберите тему"],
  today: ["Today", "Сегодня"],
  yesterday: ["Yesterday", "Вчера"],
  created: ["{name} created the topic “{topic}”", "{name}: создана тема «{topic}»"],
  renamed: ["{name} renamed the topic to “{topic}”", "{name}: тема переименована в «{topic}»"],
  closedBy: ["{name} closed the topic", "{name}: тема закрыта"],
  reopenedBy: ["{name} reopened the topic", "{name}: тема снова открыта"],
  pinned: ["{name} pinned a message", "{name}: сообщение закреплено"],
  happened: ["{name}: {kind}", "{name}: {kind}"],
  photo: ["Photo", "Фото"],
  voice: ["Voice message", "Голосовое сообщение"],
  rings: ["rings on the phone", "со звуком"],
  silent: ["sent without sound", "без звука"],
  noAnswer: ["No answer came from the bot", "Бот не ответил"],
  offline: ["Connecting…", "Соединение…"],
  unreachable: ["The demo does not answer. Is it still running?", "Демо не отвечает. Оно ещё запущено?"],
  you: ["You", "Вы"],
  beStranger: ["Act as a stranger", "Стать чужаком"],
  beOwner: ["Act as {name} again", "Снова стать {name}"],
  strangerBar: ["You are a stranger now. The hub must ignore you.", "Вы — чужак. Хаб обязан вас не слушать."],
  strangerBack: ["Be {name} again", "Снова {name}"],
  theme: ["Dark or light", "Тёмная или светлая"],
  drawer: ["What the bot does", "Что делает бот"],
  drawerText: ["Calls to the Bot API, as they happen", "Вызовы Bot API в реальном времени"],
  budget: ["Send budget of this group", "Лимит отправки группы"],
  budgetText: ["{used} of {limit} in the last {seconds} s", "{used} из {limit} за {seconds} с"],
  penalty: ["Flood penalty: {n} s left", "Штраф: ещё {n} с"],
  noCalls: ["Nothing yet", "Пока ничего"],
  close: ["Close", "Закрыть"],
  expand: ["Show the whole quote", "Показать цитату"],
  spoiler: ["Show hidden text", "Показать скрытое"],
  units: ["B KB MB", "Б КБ МБ"],
  download: ["Download {name}", "Скачать {name}"],
  openPicture: ["Open picture", "Открыть фото"],
  toEnd: ["To the newest message", "К новым сообщениям"],
  tooMany: ["At most 10 files at once", "Не больше 10 файлов сразу"],
  deleted: ["Deleted message", "Удалённое сообщение"],
  chooseAgent: ["Which agent shall work here?", "Какой агент будет работать?"],
  chooseText: ["You can try the product without a Telegram account. This page stands in for your phone.", "Попробуйте без учётной записи Telegram: эта страница заменяет телефон."],
  starting: ["Starting…", "Запуск…"],
  tourStep: ["Step {n} of {all}", "Шаг {n} из {all}"],
  tourNext: ["Next", "Дальше"],
  tourDone: ["Done", "Готово"],
  tourSkip: ["Skip the tour", "Пропустить"],
  tourAgain: ["Show the tour", "Показать обзор"],
  tour1: ["Make a topic", "Создайте тему"],
  tour1Text: ["Press the round button with the pencil. Each topic is one agent session.", "Нажмите круглую кнопку с карандашом. Каждая тема — одна сессия агента."],
  tour2: ["Give a task", "Дайте задачу"],
  tour2Text: ["Open the topic and write what to do. The agent's work is shown live in one message.", "Откройте тему и напишите, что сделать. Ход работы виден в одном сообщении."],
  tour3: ["Allow or deny", "Разрешите или запретите"],
  tour3Text: ["The agent asks before it acts. Tap Allow or Deny, or reply to the card with a reason to deny.", "Агент спрашивает, прежде чем действовать. Нажмите кнопку или ответьте на карточку причиной отказа."],
  tour4: ["Answer a question", "Ответьте на вопрос"],
  tour4Text: ["Questions come with buttons. You may answer with a message too.", "Вопросы приходят с кнопками. Можно ответить и сообщением."],
  tour5: ["Stop and go on", "Остановите и продолжите"],
  tour5Text: ["Write /stop to interrupt. The next message goes on where it stopped.", "Напишите /stop, чтобы прервать. Следующее сообщение продолжит работу."],
  tour6: ["Look behind it", "Загляните внутрь"],
  tour6Text: ["The button with the brackets shows each call of the bot and the send budget. The menu lets you act as a stranger.", "Кнопка со скобками показывает вызовы бота и лимит отправки. В меню можно стать чужаком."],
};

const asked = new URLSearchParams(location.search).get("lang") || navigator.language || "en";
export const language = asked.toLowerCase().startsWith("ru") ? "ru" : "en";

export function t(key, values = {}) {
  const text = TABLE[key][language === "ru" ? 1 : 0];
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export function clockTime(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

// A number that is the same for all moments of one local day; cheap, unlike a name.
export function dayNumber(seconds) {
  const at = new Date(seconds * 1000);
  return Math.floor((seconds - at.getTimezoneOffset() * 60) / 86_400);
}

export function dayName(seconds) {
  const day = new Date(seconds * 1000);
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const ago = Math.ceil((midnight - day) / 86_400_000);
  if (ago <= 0) return t("today");
  if (ago === 1) return t("yesterday");
  return day.toLocaleDateString(language, { day: "numeric", month: "long" });
}

export function listTime(seconds) {
  const isToday = dayName(seconds) === t("today");
  return isToday ? clockTime(seconds) : new Date(seconds * 1000).toLocaleDateString(language, { day: "numeric", month: "short" });
}

export function fileSize(bytes) {
  const units = t("units").split(" ");
  let at = 0;
  while (bytes >= 1024 && at < units.length - 1) { bytes /= 1024; at += 1; }
  return `${at && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${units[at]}`;
}

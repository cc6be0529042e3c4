package shelf;

/** Prints the labels of its arguments. */
public final class App {
    private App() {
    }

    static String all(String... titles) {
        StringBuilder labels = new StringBuilder();
        for (String title : titles) {
            labels.append(Labels.of(title)).append('\n');
        }
        return labels.toString();
    }

    public static void main(String[] titles) {
        System.out.print(all(titles));
    }
}
